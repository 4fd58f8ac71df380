"""Fuzzy string ratios 0..100 as fuzzywuzzy 0.18 with python-Levenshtein gives them, built on rapidfuzz (MIT).

Upstream uses fuzzywuzzy (GPL, never imported here) in evaluation/match_functions.py of OpenDFM/NeuSym-RAG@596e644e. Its ratio
is `round(rapidfuzz.fuzz.ratio)`. rapidfuzz's own `partial_ratio` looks for the best window and so differs from fuzzywuzzy's,
which looks only where matching blocks align; `partial_ratio` here follows the latter (docs/divergences.md).
"""

from __future__ import annotations

import re
from collections.abc import Callable

from rapidfuzz import fuzz
from rapidfuzz.distance import Levenshtein

_LATIN1 = dict.fromkeys(range(128, 256))


def ratio(a: str, b: str) -> int:
    """Similarity of the whole strings (Indel, normalised by their lengths)."""
    return round(fuzz.ratio(a, b))


def partial_ratio(a: str, b: str) -> int:
    """Similarity of the shorter string and the best aligned window of the longer one, of the same length."""
    if a == b:
        return 100
    if not a or not b:
        return 0
    shorter, longer = (a, b) if len(a) <= len(b) else (b, a)
    best = 0.0
    for block in Levenshtein.editops(shorter, longer).as_matching_blocks():
        start = max(block.b - block.a, 0)
        value = fuzz.ratio(shorter, longer[start : start + len(shorter)])
        if value > 99.5:
            return 100
        best = max(best, value)
    return round(best)


def token_sort_ratio(a: str, b: str) -> int:
    """`ratio` of the words in alphabetical order."""
    return ratio(_sorted(a), _sorted(b))


def token_set_ratio(a: str, b: str) -> int:
    """The best `ratio` among the shared words and each side's shared and own words."""
    return _token_set(a, b, ratio)


def partial_token_sort_ratio(a: str, b: str) -> int:
    """`partial_ratio` of the words in alphabetical order."""
    return partial_ratio(_sorted(a), _sorted(b))


def partial_token_set_ratio(a: str, b: str) -> int:
    """The best `partial_ratio` among the shared words and each side's shared and own words."""
    return _token_set(a, b, partial_ratio)


METHODS: dict[str, Callable[[str, str], int]] = {
    "ratio": ratio,
    "partial_ratio": partial_ratio,
    "token_sort_ratio": token_sort_ratio,
    "token_set_ratio": token_set_ratio,
    "partial_token_sort_ratio": partial_token_sort_ratio,
    "partial_token_set_ratio": partial_token_set_ratio,
}


def similarity(method: str, a: str, b: str) -> int:
    """The ratio named `method`. Raises AttributeError for an unknown one, as upstream does."""
    if method not in METHODS:
        raise AttributeError(f"unknown fuzz_method {method!r}; known: {', '.join(METHODS)}")
    return METHODS[method](a, b)


def _words(text: str) -> list[str]:
    return re.sub(r"\W", " ", text.translate(_LATIN1)).lower().split()


def _sorted(text: str) -> str:
    return " ".join(sorted(_words(text)))


def _token_set(a: str, b: str, compare: Callable[[str, str], int]) -> int:
    left, right = set(_words(a)), set(_words(b))
    if not left or not right:
        return 0
    shared = " ".join(sorted(left & right))
    with_left = f"{shared} {' '.join(sorted(left - right))}".strip()
    with_right = f"{shared} {' '.join(sorted(right - left))}".strip()
    return max(compare(shared, with_left), compare(shared, with_right), compare(with_left, with_right))
