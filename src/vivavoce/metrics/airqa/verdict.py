"""The published rules that read a judge's raw reply (OpenDFM/NeuSym-RAG@596e644e, evaluation/llm_functions.py)."""

from __future__ import annotations

import re

from vivavoce.metrics.literals import json_value

_OPEN = re.compile(r"```(?:txt)?+(\s+)")
_CLOSE = re.compile(r"(?<!\s)(\s++)```")


def published_verdict(text: str) -> bool:
    """Whether the last block between triple backticks (bare or `txt`, with blanks inside both) is "true" in any case.

    Everything else is no: a bare True, another language tag, "Yes", a missing fence. An earlier block with another tag puts
    opening and closing fences out of step, as upstream. Equals `re.findall` of the published pattern, in linear time.
    """
    bodies = _bodies(text)
    return bool(bodies) and bodies[-1].lower() == "true"


def published_selection(text: str) -> float:
    """M3SciQA's score: `selection` of the first `{...}` as a number, whatever its range.

    Raises TypeError without braces, ValueError or KeyError where they hold no such JSON: upstream counts these as 0.
    """
    start = text.find("{")
    end = text.find("}", start)
    if start < 0 or end < 0:
        raise TypeError("no {...} in the reply")
    return float(json_value(text[start : end + 1])["selection"])


def _bodies(text: str) -> list[str]:
    bodies: list[str] = []
    position = 0
    closes = True  # whether a closing fence may still follow
    while opening := _OPEN.search(text, position):
        begin = opening.end()
        closing = _CLOSE.search(text, begin) if closes else None
        closes = closing is not None
        if closing:
            bodies.append(text[begin : closing.start(1)])
            position = closing.end()
        elif len(opening[1]) > 1 and text.startswith("```", begin):
            bodies.append("")
            position = begin + 3
        else:
            position = opening.start() + 1
    return bodies
