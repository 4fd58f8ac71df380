"""Trajectories in NeuSym-RAG's form: one message a line (OpenDFM/NeuSym-RAG@596e644e, utils/agent_utils; spec/airqa.md 4).

A file holds one question's run and is named by its id, or a line holds `{id, messages}`. Turns are the assistant's messages,
which upstream counts as len(messages) // 2 - 1; where the two differ a note says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from vivavoce.agents.predictions.rows import Row, jsonl_rows
from vivavoce.errors import DataError
from vivavoce.models.action_text import SYNTAXES
from vivavoce.records import Turn
from vivavoce.tools.actions import ACTIONS, FINAL
from vivavoce.tools.parse import parse_reply
from vivavoce.tools.parsed import Parsed


class Trajectory(NamedTuple):
    """A run: its turns, its final answer (None: none was given) and what was seen last."""

    turns: tuple[Turn, ...]
    answer: Any
    answered: bool
    last_observation: str
    published_turns: int
    notes: tuple[str, ...]


def is_trajectory(path: Path) -> bool:
    """Whether a folder of JSONL files, or a file whose lines are messages or hold messages, is given."""
    if path.is_dir():
        return True
    if path.suffix.lower() != ".jsonl" or not path.exists():
        return False
    first = next(jsonl_rows(path), None)
    return first is not None and ("messages" in first.values or {"role", "content"} <= set(first.values))


def trajectory_rows(path: Path) -> Iterator[Row]:
    """One row a question: `id` (the file's name, or what the line says) and `messages`."""
    files = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
    if not files:
        raise DataError(f"{path}: no .jsonl file in this folder. Expected one a question, named by its id.")
    for file in files:
        rows = list(jsonl_rows(file))
        if rows and "messages" in rows[0].values:
            yield from rows
        else:
            yield Row(str(file), {"id": file.stem, "messages": [row.values for row in rows]})


def read_trajectory(messages: Any, where: str) -> Trajectory:
    """The turns and the answer of a run. Raises DataError when these are not messages."""
    if not isinstance(messages, list) or not all(isinstance(item, Mapping) and "role" in item for item in messages):
        raise DataError(f"{where}: expected a list of messages with role and content.")
    notes: list[str] = []
    turns: list[Turn] = []
    answer, answered, last = None, False, ""
    for index, message in enumerate(messages):
        if message["role"] != "assistant":
            continue
        parsed = _parsed(_content(message))
        seen = messages[index + 1] if index + 1 < len(messages) else {}
        observation = _content(seen) if seen.get("role") in ("user", "tool") else ""
        turns.append(
            Turn(
                action=parsed.action,
                arguments=parsed.arguments,
                thought=parsed.thought,
                observation=observation,
                error=parsed.error,
            )
        )
        last = observation or last
        if parsed.action == FINAL:
            answer, answered = parsed.arguments.get("answer"), True
    published = len(messages) // 2 - 1
    if published != len(turns):
        notes.append(f"turns: {len(turns)} replies, {published} by upstream's count")
    return Trajectory(tuple(turns), answer, answered, last, published, tuple(notes))


def _parsed(reply: str) -> Parsed:
    """The action by whichever syntax reads it; the first syntax's error where none does."""
    attempts = []
    for syntax in SYNTAXES:
        parsed = parse_reply(reply, tuple(ACTIONS), syntax)
        if not parsed.error:
            return parsed
        attempts.append(parsed)
    return attempts[0]


def _content(message: Mapping[str, Any]) -> str:
    """The text of a message; of several parts, the texts."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    if isinstance(content, Sequence):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
    return ""
