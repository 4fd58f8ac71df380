"""Reading the agent's replies: the answer between markers, remarks of feedback, and an attributed line.

Source: AkariAsai/OpenScholar@0e9b8fb9 (spec/scholarqabench.md 7.3-7.5). Upstream loses a last remark without a newline and
a question on a line of its own; both are read here.
"""

from __future__ import annotations

import re

import msgspec

from vivavoce.metrics.citations import corrected
from vivavoce.metrics.citations.sentences import body

START, END = "[Response_Start]", "[Response_End]"
_HEAD = r"^[^\w\n]*(?:\d+[^\w\n]+)?feedback(?:\s*\d+)?[*_\s]*:[*_]*"
_REMARK = re.compile(rf"{_HEAD}\s*(.*?)(?={_HEAD}|\Z)", re.I | re.M | re.S)
_QUESTION = re.compile(r"[*_]*\bquestion\b[*_\s]*:[*_]*\s*(.*)", re.I | re.S)
_NO_QUESTION = re.compile(r"^\W*(?:none|n/?a|no(?:ne needed)?|-)?\W*$", re.I)


class Remark(msgspec.Struct, frozen=True, kw_only=True):
    """One remark on an answer; `question` is what to search for, empty if nothing."""

    text: str
    question: str = ""


def answer_of(reply: str) -> str:
    """What stands between the markers (all of it without an end marker), without a closing reference list."""
    start = reply.find(START)
    text = reply[start + len(START) :] if start >= 0 else reply
    return body(text.split(END, 1)[0].strip())


def remarks_of(reply: str, most: int) -> list[Remark]:
    """At most `most` remarks `Feedback: ... Question: ...`; none where the reply has no such line."""
    found = []
    for match in _REMARK.finditer(reply):
        text = match.group(1).strip()
        question = _QUESTION.search(text)
        asked = " ".join(question.group(1).split()) if question else ""
        told = " ".join((text[: question.start()] if question else text).split())
        if told or asked:
            found.append(Remark(text=told or asked, question="" if _NO_QUESTION.match(asked) else asked))
    return found[:most]


def attributed(line: str, reply: str) -> str | None:
    """The line with the marks that a reply put into it; None if the reply says anything else than the line."""
    text = " ".join(answer_of(reply).split())
    return text if corrected.claim(text) == corrected.claim(line) and corrected.ids(text) else None
