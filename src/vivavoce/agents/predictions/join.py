"""Which record answers which question: by id, or by the question's exact text where a format has no ids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from vivavoce.agents.predictions.options import PredictionOptions
from vivavoce.agents.predictions.rows import Row, Rows
from vivavoce.errors import DataError
from vivavoce.files import sample
from vivavoce.records import Question

_IDS = ("question_id", "uuid", "case_id", "id", "qid")
_TEXTS = ("input", "question", "query", "que")


class Joined(NamedTuple):
    """The row of each question, and what did not fit."""

    rows: dict[str, Row]
    missing: tuple[str, ...]
    extra: tuple[str, ...]
    duplicates: dict[str, int]

    def problems(self) -> str:
        """Counts and some names, empty when all fits."""
        parts = []
        if self.missing:
            parts.append(f"{len(self.missing)} question(s) without an answer ({sample(self.missing)})")
        if self.extra:
            parts.append(f"{len(self.extra)} answer(s) of no question ({sample(self.extra)})")
        if self.duplicates:
            parts.append(f"{len(self.duplicates)} question(s) answered more than once ({sample(self.duplicates)})")
        return "; ".join(parts)


def join(questions: Sequence[Question], rows: Rows, source: Path, options: PredictionOptions, *, limited: bool) -> Joined:
    """Give each question its row. `limited`: only the first questions are asked, so that other answers are no surprise."""
    column, keys = _key(questions, rows, source, options)
    found: dict[str, Row] = {}
    counts: Counter[str] = Counter()
    extra = []
    for row in rows.rows:
        key = text_id(row.values.get(column))
        identity = keys.get(key)
        if identity is None:
            extra.append(key[:60] if key else f"({row.where}: empty)")
            continue
        counts[identity] += 1
        if counts[identity] == 1:
            found[identity] = row
        elif _content(found[identity], column) == _content(row, column):
            counts[identity] -= 1  # the same answer again (a question that two ids name)
    joined = Joined(
        rows=found,
        missing=tuple(question.id for question in questions if question.id not in found),
        extra=() if limited else tuple(extra),
        duplicates={identity: count for identity, count in counts.items() if count > 1},
    )
    if not found:
        raise DataError(f"{source}: no record answers any question by {column!r}: {joined.problems()}.")
    if options.missing == "strict" and joined.problems():
        raise DataError(
            f"{source}: joined by {column!r}: {joined.problems()}. Each question must be answered once; correct the file, "
            "or set missing: report to count missing answers as errors and note the others."
        )
    return joined


def text_id(value: Any) -> str:
    """An id as text: 12.0 is 12."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return "" if value is None else str(value).strip()


def _content(row: Row, column: str) -> dict[str, Any]:
    return {name: value for name, value in row.values.items() if name != column}


def _key(questions: Sequence[Question], rows: Rows, source: Path, options: PredictionOptions) -> tuple[str, dict[str, str]]:
    """The column to join by, and what each of its values means: id of the question."""
    ids = _ids(questions)
    for name in [options.id] if options.id else [] if options.question else _IDS:
        if name in rows.names and any(text_id(row.values.get(name)) in ids for row in rows.rows):
            return name, ids
    if not options.id:
        for name in [options.question] if options.question else _TEXTS:
            if name in rows.names:
                return name, _texts(questions, source)
    raise DataError(
        f"{source}: no column joins with the questions. It has {', '.join(rows.names) or 'none'}; the questions' ids are "
        f"such as {sample(question.id for question in questions[:2])}. Name the column: id: <column> or question: <column>."
    )


def _ids(questions: Sequence[Question]) -> dict[str, str]:
    """Ids, and the other names that a question has: a rubric's case id, an alias."""
    ids: dict[str, str] = {}
    for question in questions:
        rubrics = question.gold.get("rubrics")
        cases = (
            [rubric.get("case_id") for rubric in rubrics if isinstance(rubric, Mapping)] if isinstance(rubrics, list) else []
        )
        for alias in [*question.extra.get("aliases", ()), *cases]:
            ids.setdefault(str(alias), question.id)
    ids.update({question.id: question.id for question in questions})
    return ids


def _texts(questions: Sequence[Question], source: Path) -> dict[str, str]:
    texts = {question.text.strip(): question.id for question in questions}
    if len(texts) < len(questions):
        often = Counter(question.text.strip() for question in questions)
        twice = [question.id for question in questions if often[question.text.strip()] > 1]
        raise DataError(
            f"{source}: joined by the question's text, but {len(twice)} questions share theirs: {sample(twice)}. "
            "Add a column with the questions' ids and name it: id: <column>."
        )
    return texts
