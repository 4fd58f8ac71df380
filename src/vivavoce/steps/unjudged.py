"""Grade rollouts of which no judge is asked anything, by a grader that can take them all at once (`grade_all`)."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import islice
from pathlib import Path
from types import ModuleType

from vivavoce.files import by_id, read_records
from vivavoce.records import Question, Rollout
from vivavoce.steps.judge import NO_JUDGE, Counts, pairs
from vivavoce.steps.pool import OrderedLines

BLOCK = 5000  # judgements that are written at once


def can_grade_alone(grader: ModuleType, judge: str) -> bool:
    """Whether this judge leaves the grader to its fast way: the same judgements, without a task for each question."""
    return judge == NO_JUDGE and hasattr(grader, "grade_all")


def grade_alone(
    questions: Path, rollouts: Path, grader: ModuleType, out: OrderedLines, *, only: Collection[str] = ()
) -> Counts:
    """Grade every rollout of a file in its order; `only` names the measures that are kept (none: all)."""
    known = by_id(read_records(questions, Question), "id", questions)
    counts = Counts()
    found = grader.grade_all(known, _once(known, rollouts), frozenset(only) or None)
    position = 0
    while block := list(islice(found, BLOCK)):
        out.put(position, counts.encode(block))
        position += 1
    return counts


def _once(known: dict[str, Question], rollouts: Path) -> Iterator[Rollout]:
    return (rollout for _, rollout in pairs(known, rollouts))
