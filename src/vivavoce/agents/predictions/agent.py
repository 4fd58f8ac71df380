"""The agent `predictions`: it answers nothing itself, but turns a file of answers into rollouts, one a question.

The workflow's rollout step calls `rollouts` where an agent has it, in place of `answer`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

from vivavoce.agents.predictions.join import Joined, join
from vivavoce.agents.predictions.options import PredictionOptions
from vivavoce.agents.predictions.passages import passages_of
from vivavoce.agents.predictions.rows import Row, Rows, read_rows
from vivavoce.agents.predictions.trajectory import is_trajectory, read_trajectory, trajectory_rows
from vivavoce.agents.predictions.values import Value, value_of
from vivavoce.errors import DataError
from vivavoce.records import Question, Rollout

log = logging.getLogger(__name__)

_ANSWERS = ("answer", "answer_text", "output", "prediction", "response", "*_ans_single", "*_ans")
_CONTEXTS = ("ctxs", "contexts", "docs")


class Predictions:
    """Reads answers made elsewhere. `name` is what the rollouts' `agent` says."""

    name = "predictions"
    Options: ClassVar[type[PredictionOptions]] = PredictionOptions

    @classmethod
    def rollouts(
        cls,
        questions: Sequence[Question],
        source: Path,
        options: PredictionOptions,
        label: str,
        seed: int,
        cache: Path | None = None,
        *,
        limited: bool = False,
    ) -> Iterator[Rollout]:
        """One rollout a question, in the order of the questions; `label` is the name of the model that answered.

        What is graded under `as_published` where it is not `answer` stands raw in `extra["published_answer"]` (None: an empty
        cell). `cache` is a folder for the parsed form of spreadsheets. `limited` says that `questions` are the first of more.
        Raises DataError: unreadable file, unknown column, and, where options.missing is `strict`, ids that do not fit.
        """
        trajectories = options.format == "trajectory" or (options.format == "auto" and is_trajectory(source))
        if trajectories:
            rows = list(trajectory_rows(source))
            joined = join(questions, Rows(("id", "uuid", "messages"), rows), source, options, limited=limited)
            made: Iterator[dict[str, Any] | None] = (
                _from_trajectory(joined.rows[q.id]) if q.id in joined.rows else None for q in questions
            )
        else:
            table = read_rows(source, options, cache)
            joined = join(questions, table, source, options, limited=limited)
            made = _from_table(questions, table, joined, source, options)
        for index, (question, fields) in enumerate(zip(questions, made, strict=True)):
            if fields is None and trajectories:
                fields = _missing(source) | {"extra": {"trajectory": True}}
            yield _rollout(cls.name, question, fields or _missing(source), joined, label, seed, first=index == 0)
        if joined.problems():
            log.warning("%s: %s", source, joined.problems())


def _rollout(
    agent: str, question: Question, fields: dict[str, Any], joined: Joined, label: str, seed: int, *, first: bool
) -> Rollout:
    notes: list[str] = []
    if first and joined.extra:
        # The file's own oddities have no question of their own: the first one's rollout tells them.
        notes.append(f"file: {len(joined.extra)} answer(s) of no question, such as {joined.extra[0]}")
    if question.id in joined.duplicates:
        notes.append(f"duplicate: {joined.duplicates[question.id]} answers, the first is taken")
    notes += fields["notes"]
    return Rollout(**{**fields, "notes": tuple(notes)}, question_id=question.id, agent=agent, model=label, seed=seed)


def _missing(source: Path) -> dict[str, Any]:
    return {"outcome": "error", "reason": f"{source.name} holds no answer to this question", "notes": ("missing",)}


def _from_table(
    questions: Sequence[Question], table: Rows, joined: Joined, source: Path, options: PredictionOptions
) -> Iterator[dict[str, Any] | None]:
    answer = column(table.names, options.answer or _ANSWERS, source, "answer")
    published = column(table.names, [options.published], source, "published") if options.published else answer
    contexts = column(
        table.names, [options.contexts] if options.contexts else _CONTEXTS, source, "", needed=bool(options.contexts)
    )
    by_row = options.row_join and len(questions) == len(table.rows)  # of a part of the questions, a row's position says nothing
    places = {id(row): place for place, row in enumerate(table.rows)} if by_row else {}
    for index, question in enumerate(questions):
        row = joined.rows.get(question.id)
        if row is None:
            yield None
            continue
        raw = row.values.get(published)
        value = value_of(row.values.get(answer), options, spreadsheet=table.spreadsheet)
        same = value.answer is not None and raw == value.answer
        extra: dict[str, Any] = {} if same else {"published_answer": raw}
        if by_row:
            positional = table.rows[index].values.get(published) if index < len(table.rows) else None
            extra["row_join"] = True
            if positional != raw:
                extra["row_answer"] = positional
            if (place := places[id(row)]) != index:
                extra["row"] = place  # where this question's own answer stands, from 0
        yield _fields(value, extra, options, row.values.get(contexts) if contexts else None)


def _fields(value: Value, extra: dict[str, Any], options: PredictionOptions, contexts: Any) -> dict[str, Any]:
    passages, notes = passages_of(contexts)
    if options.index_base is not None:
        extra["index_base"] = options.index_base
    return {
        "outcome": value.outcome,
        "answer": value.answer,
        "reason": value.reason,
        "contexts": passages,
        "notes": (*value.notes, *notes),
        "extra": extra,
    }


def _from_trajectory(row: Row) -> dict[str, Any]:
    run = read_trajectory(row.values.get("messages"), row.where)
    extra: dict[str, Any] = {"trajectory": True, "published_turns": run.published_turns}
    if not run.answered:
        # Upstream's live path scores the last observation when the turns run out (agent_base.py:72-76).
        return {
            "outcome": "limit",
            "reason": f"no final answer in {len(run.turns)} turns",
            "turns": run.turns,
            "notes": run.notes,
            "extra": extra | {"last_observation": run.last_observation},
        }
    blank = run.answer is None or (isinstance(run.answer, str) and not run.answer.strip())
    return {
        "outcome": "invalid" if blank else "answered",
        "answer": None if blank else run.answer if isinstance(run.answer, str) else str(run.answer),
        "reason": "the final answer is empty" if blank else "",
        "turns": run.turns,
        "notes": run.notes,
        "extra": extra,
    }


def column(names: Sequence[str], patterns: Sequence[str], source: Path, what: str, *, needed: bool = True) -> str:
    """The first column that the first fitting pattern names; a `*` stands for anything. Empty: not found, and not needed."""
    for pattern in patterns:
        start, star, end = pattern.partition("*")
        for name in names:
            fits = (
                name.startswith(start) and name.endswith(end) and len(name) >= len(start) + len(end)
                if star
                else name == pattern
            )
            if fits:
                return name
    if not needed:
        return ""
    raise DataError(
        f"{source}: no column for {what}: expected {' or '.join(patterns)}; the file has {', '.join(names)}. "
        f"Name it in the options: {what}: ..."
    )
