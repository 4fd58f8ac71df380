"""Prometheus scores of long answers, 1 to 5: how a reply becomes a score, as published. Corrected is the common verdict parser.

Source: AkariAsai/ScholarQABench@95e6fc52 `prometheus_eval.py` L205 (extraction), L225 (mean); Asai et al. 2024.
"""

from __future__ import annotations

import re

_MARK = "[RESULT] "
_PHRASE = re.compile(r"the overall score is (\d+)")
COUNTED = ("1", "2", "3", "4", "5")


def published_raw(reply: str) -> str:
    """Upstream's score text: what follows the first "[RESULT] " up to the line's end; without the mark, what follows the eighth
    character (P2). If that is no number, the number of "the overall score is N", lower case only.
    """
    at = reply.find(_MARK)
    raw = reply[at + len(_MARK) :].split("\n")[0]
    try:
        int(raw)
    except ValueError:
        phrase = _PHRASE.search(reply)
        return phrase[1] if phrase else raw
    return raw


def published_score(reply: str) -> float | None:
    """The score if its text is exactly 1 to 5; None is dropped from upstream's mean (P3)."""
    raw = published_raw(reply)
    return float(raw) if raw in COUNTED else None


def truncate(answer: str, words: int) -> str:
    """The first `words` words of an answer, with the spacing between them; the whole answer if it has no more."""
    ends = [match.end() for match in re.finditer(r"\S+", answer)]
    return answer if len(ends) <= words else answer[: ends[words - 1]] if words > 0 else ""
