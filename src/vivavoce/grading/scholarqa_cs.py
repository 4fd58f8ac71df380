"""ScholarQA-CS, all that the paper's tables print: the rubric and the citations of each answer."""

from __future__ import annotations

from vivavoce.grading.base import Grading, MeasureSpec
from vivavoce.grading.common import EFFORT, effort
from vivavoce.grading.long_form import CITATIONS, LENGTHS, citation_grading
from vivavoce.grading.rubric import RUBRIC, rubric_grading
from vivavoce.records import Question, Rollout

MEASURES: tuple[MeasureSpec, ...] = (*RUBRIC, *CITATIONS, *LENGTHS, *EFFORT)


def grade(question: Question, rollout: Rollout) -> Grading:
    """Rubric, citations, length and effort."""
    judgements = yield from rubric_grading(question, rollout)
    judgements += yield from citation_grading(question, rollout)
    return judgements + effort(rollout)
