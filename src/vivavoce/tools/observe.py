"""How a result reads: JSON rows, one a line, cut by rows and tokens, with a last line that says what is shown.

Source: spec/airqa.md 4.1 (at most 10 rows and 5,000 tokens); the wording is our own. Upstream always keeps the first row
whole, however long; here it is cut like the rest.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from vivavoce.models.chat import Image
from vivavoce.records import Passage
from vivavoce.tools.tokens import Counter, cut, plain_count


class Observation(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an action gave: the text for the agent, images, the passages that it may cite from now on, and any error."""

    text: str
    images: tuple[Image, ...] = ()
    passages: tuple[Passage, ...] = ()  # one a shown row, in order
    error: str = ""


class Caps(msgspec.Struct, frozen=True, kw_only=True):
    """How much of a result is shown."""

    rows: int = 10
    tokens: int = 5000
    count: Counter = plain_count


def rows_as_text(rows: Sequence[Mapping[str, Any]], caps: Caps, *, more: bool = False) -> tuple[str, int]:
    """The text of the rows that fit, and how many those are. `more` says that the result has rows beyond these."""
    lines: list[str] = []
    left = caps.tokens
    reason = "max_rows" if more or len(rows) > caps.rows else ""
    for row in rows[: caps.rows]:
        line = json.dumps(row, ensure_ascii=False, default=str)
        length = caps.count(line)
        if length > left:
            reason = "max_tokens"
            if not lines:
                lines.append(cut(line, left, caps.count))
            break
        left -= length
        lines.append(line)
    if reason:
        lines.append(
            f"# only the first {len(lines)} row(s) are shown in JSON, one a line: the result was truncated by {reason}"
        )
    else:
        lines.append(f"In total, {len(lines)} row(s) are shown in JSON, one a line.")
    return "\n".join(lines), len(lines) - 1


def failed(kind: str, message: str) -> Observation:
    """An observation that tells of an error."""
    return Observation(text=f"[{kind}]: {message}", error=message)
