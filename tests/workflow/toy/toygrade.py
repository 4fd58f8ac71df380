"""The toy's grader: as published it minds capitals, corrected it does not."""

from __future__ import annotations

from toymetric import same

from vivavoce.grading.base import Grading, Value
from vivavoce.grading.common import judgement
from vivavoce.records import Question, Rollout

MEASURES = (Value(name="accuracy"),)


def grade(question: Question, rollout: Rollout) -> Grading:
    """Asks no judge."""
    yield from ()
    answer, word = rollout.answer or "", question.gold["word"]
    return [
        judgement(rollout, "accuracy", "as_published", same(answer, word, fold=False)),
        judgement(rollout, "accuracy", "corrected", same(answer, word, fold=True)),
    ]
