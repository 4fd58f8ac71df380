"""What parsing a reply gives: an action with its arguments, or why there is none."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Protocol = Literal["react", "code_block"]
Rules = Literal["corrected", "as_published"]
MAX_REPLY = 200_000  # characters of a reply that are read


class Parsed(msgspec.Struct, frozen=True, kw_only=True):
    """`action` is empty when there is an `error`. `notes` tell of repairs; `text` is the part that was read as the action."""

    thought: str = ""
    action: str = ""
    arguments: dict[str, Any] = {}
    text: str = ""
    error: str = ""
    notes: tuple[str, ...] = ()
