"""The contexts that stand beside an answer, as passages in the order of their citation numbers."""

from __future__ import annotations

import math
from typing import Any

from vivavoce.records import Passage


def passages_of(value: Any) -> tuple[tuple[Passage, ...], tuple[str, ...]]:
    """Passages and notes from ScholarQABench's `ctxs`: [{text, title?}], {id: [text, title]}, or a list of texts.

    An entry without a readable text stays as an empty passage, so that the numbers of the others do not move.
    """
    if value is None or value == "":
        return (), ()
    entries = list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else None
    if entries is None:
        return (), (f"contexts_unreadable: {type(value).__name__}",)
    passages, empty = [], 0
    for key, entry in entries:
        passage = _passage(str(key), entry)
        empty += not passage.text
        passages.append(passage)
    return tuple(passages), (f"contexts_empty: {empty} of {len(passages)}",) if empty else ()


def _passage(key: str, entry: Any) -> Passage:
    if isinstance(entry, dict):
        text = entry.get("text") or entry.get("retrieval text") or entry.get("paragraph")
        return Passage(id=_text(entry.get("id")) or key, text=_text(text), title=_text(entry.get("title")))
    if isinstance(entry, (list, tuple)):
        parts = [_text(part) for part in entry[:2]] + ["", ""]
        return Passage(id=key, text=parts[0], title=parts[1])
    return Passage(id=key, text=_text(entry))


def _text(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return value if isinstance(value, str) else str(value)
