"""Token overlap between texts: the plainest measure of whether one text says what another says."""

from __future__ import annotations

import re
import unicodedata

_WORD = re.compile(r"\w+(?:\.\d+)*")
# Function words of English that any two texts share.
STOP = frozenset(
    """
    a about also an and are as at be been being but by can could did do does for from had has have he her here his how i if in
    into is it its may might of on or our over shall she should so such than that the their then there these they
    this those to under was we were what when where which who whom why will with would you your between
    """.split()  # noqa: SIM905 - a list of words reads better so
)


def content_tokens(text: str) -> frozenset[str]:
    """Distinct content tokens: NFKC, case folded, numbers whole, function words out (kept if there is nothing else)."""
    words = frozenset(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))
    return words - STOP or words


def coverage(of: str, within: str) -> float:
    """Share of the content tokens of `of` that occur in `within`, 0..1; 0 if `of` has none."""
    wanted = content_tokens(of)
    return len(wanted & content_tokens(within)) / len(wanted) if wanted else 0.0


def f1(first: str, second: str) -> float:
    """Harmonic mean of the coverage of each text by the other, 0..1 (Dice coefficient of the token sets)."""
    one, two = content_tokens(first), content_tokens(second)
    return 2 * len(one & two) / (len(one) + len(two)) if one or two else 0.0
