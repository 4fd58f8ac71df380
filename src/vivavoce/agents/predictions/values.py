"""From the value of a cell or field to an answer: how it ended, the text to grade, and what was odd about it.

Every oddity is a note (`name: detail`), so that nothing is changed or dropped silently. Which oddities there are in the
published SciDQA responses: docs/divergences.md.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from vivavoce.agents.predictions.options import PredictionOptions
from vivavoce.metrics.literals import python_literal
from vivavoce.records import Outcome
from vivavoce.spreadsheet import ESCAPE, decode_escapes

# The header that opens a model's turn in a chat template (Llama 3, ChatML, Gemma): no part of what it says.
_HEADER = re.compile(
    r"(?:<\|begin_of_text\|>)?<\|start_header_id\|>\w+<\|end_header_id\|>"
    r"|<\|im_start\|>(?:assistant|system|user)\b"
    r"|<start_of_turn>(?:model|user)\b"
)
# Other control tokens: reported, but a model may have meant them, so they stay.
_CONTROL = re.compile(r"<\|[A-Za-z][\w ]{0,60}\|>|</?s>|\[/?INST\]|<end_of_turn>|<<SYS>>|<(?:pad|unk|bos|eos)>")


class Value(NamedTuple):
    """What an imported value is worth."""

    outcome: Outcome
    answer: str | None
    reason: str
    notes: tuple[str, ...]


def value_of(raw: Any, options: PredictionOptions, *, spreadsheet: bool = False) -> Value:
    """Judge and clean one value. `spreadsheet` turns on what only Excel does to texts."""
    if raw is None or (isinstance(raw, float) and math.isnan(raw)):
        return Value("invalid", None, "no answer: empty", ("empty",))
    notes: list[str] = []
    if isinstance(raw, str):
        text = raw
    else:
        text = str(raw)  # as upstream scorers do: a list or a truth value in Python's form
        notes.append(f"not_text: {type(raw).__name__}")
    if spreadsheet:
        text = _from_excel(text, options, notes)
    for step in (_without_headers, _without_split_characters, _without_list):
        text = step(text, options, notes)
    left = sorted(set(_CONTROL.findall(text))) if "<" in text or "INST]" in text else []
    if left:
        notes.append(f"control_tokens: {' '.join(left[:5])}")
    outcome, reason = _outcome(text, options, notes)
    return Value(outcome, text if outcome == "answered" else None, reason, tuple(notes))


def _outcome(text: str, options: PredictionOptions, notes: list[str]) -> tuple[Outcome, str]:
    bare = text.strip()
    if bare in options.refusals:
        notes.append(f"refusal: {bare}")
        return "refused", f"the file holds {bare!r} in place of an answer"
    if bare.startswith(tuple(options.errors)):
        return "error", bare[:200]
    if bare in options.blank:
        notes.append("blank" if not bare else f"blank: {bare}")
        return "invalid", f"no answer: {bare!r}"
    if not any(character.isalnum() for character in bare):
        notes.append(f"no_words: {bare[:20]}")
        return "invalid", f"no word in {bare[:20]!r}"
    return "answered", ""


def _from_excel(text: str, options: PredictionOptions, notes: list[str]) -> str:
    if len(text) >= options.excel_limit:
        notes.append(f"excel_cut: {len(text)} characters")
    escapes = ESCAPE.findall(text) if "_x" in text else []
    if escapes:
        notes.append(f"excel_escapes: {' '.join(sorted(set(escapes))[:5])}")
        return decode_escapes(text) if options.escapes == "decode" else text
    return text


def _without_headers(text: str, options: PredictionOptions, notes: list[str]) -> str:
    found = _HEADER.findall(text) if "<" in text else []
    if not found:
        return text
    notes.append(f"chat_header: {found[0]}" + (f" x{len(found)}" if len(found) > 1 else ""))
    return _HEADER.sub("", text) if options.headers == "remove" else text


def _without_split_characters(text: str, options: PredictionOptions, notes: list[str]) -> str:
    """Text written as one character a line (a list of characters, joined): an empty line was a space."""
    lines = text.strip().split("\n")
    if len(lines) < 10 or max(map(len, lines)) > 2 or sum(len(line) > 1 for line in lines) * 20 > len(lines):
        return text
    if sum(map(len, lines)) * 2 < len(lines):  # mostly blank lines
        return text
    notes.append(f"split_characters: {len(lines)} lines")
    return "".join(line or " " for line in lines) if options.split_characters == "repair" else text


def _without_list(text: str, options: PredictionOptions, notes: list[str]) -> str:
    """The text of a list of generations: counted, and by option reduced to its first, or joined, nonblank items."""
    bare = text.strip()
    if not (bare.startswith("[") and bare.endswith("]")) or bare in options.blank:
        return text
    try:
        items = python_literal(bare)
    except ValueError:
        return text
    if not (isinstance(items, list) and all(isinstance(item, str) for item in items)):
        return text
    if len(items) > 1 and all(len(item) == 1 for item in items):
        notes.append(f"split_list: {len(items)} characters")
        return "".join(items) if options.lists != "text" else text
    notes.append(f"list: {len(items)} items")
    return _REDUCE[options.lists](text, [item.strip() for item in items if item.strip()])


_REDUCE: dict[str, Callable[[str, list[str]], str]] = {
    "text": lambda text, items: text,
    "first": lambda text, items: items[0] if items else "",
    "join": lambda text, items: "\n".join(items),
}
