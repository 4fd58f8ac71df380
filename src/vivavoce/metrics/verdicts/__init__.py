"""One parser for every judge's verdict. It never guesses: what is not said plainly is an error that says what is wrong.

    parse_verdict("... **Score: 9**", VerdictSpec(kind="integer", low=1, high=10))  ->  Verdict(value=9)

Parts: `spec` (what is expected), `clean` (what surrounds a verdict), `objects` (JSON), `words` (booleans, labels, numbers).
"""

from __future__ import annotations

import msgspec

from vivavoce.metrics.verdicts.clean import strip_thinking
from vivavoce.metrics.verdicts.objects import find_json
from vivavoce.metrics.verdicts.spec import Verdict, VerdictSpec
from vivavoce.metrics.verdicts.words import find_word

__all__ = ["Verdict", "VerdictSpec", "parse_verdict", "strip_thinking"]

LONGEST = 400_000  # characters; a longer reply is no verdict


def parse_verdict(text: str, spec: VerdictSpec) -> Verdict:
    """Read the verdict that `spec` expects from a judge's whole reply; never raises.

    Value: bool (`boolean`), the label as `spec` spells it (`label`), int (`integer`), float (`number`), the JSON
    value (`json`), or the stripped text (`text`). On failure the value is None and `error` says why, in words that can be
    shown to the judge: empty, truncated, no verdict, two different verdicts, off the scale, a missing or ill-typed field.
    """
    if len(text) > LONGEST:
        return Verdict(error=f"the reply is longer than {LONGEST} characters")
    body, cut = strip_thinking(text)
    if cut:
        return Verdict(error="truncated: the thinking block never ends")
    if not body.strip():
        return Verdict(error="empty reply")
    if spec.kind == "text":
        return Verdict(value=body.strip())
    try:
        return find_json(body, spec.schema) if spec.kind == "json" else find_word(body, spec)
    except (ValueError, RecursionError, msgspec.MsgspecError) as error:  # a hostile reply must not stop a run
        return Verdict(error=f"unreadable reply: {type(error).__name__}")
