"""ScholarQA-Multi, all that the paper's tables print: Prometheus' three aspects and the citations of each answer."""

from __future__ import annotations

from vivavoce.grading.base import Grading, MeasureSpec
from vivavoce.grading.common import EFFORT, effort
from vivavoce.grading.long_form import CITATIONS, LENGTHS, citation_grading
from vivavoce.grading.prometheus import ASPECT_MEASURES, prometheus_grading
from vivavoce.records import Question, Rollout

MEASURES: tuple[MeasureSpec, ...] = (*ASPECT_MEASURES, *CITATIONS, *LENGTHS, *EFFORT)


def grade(question: Question, rollout: Rollout) -> Grading:
    """Aspects, citations, length and effort."""
    judgements = yield from prometheus_grading(question, rollout)
    judgements += yield from citation_grading(question, rollout)
    return judgements + effort(rollout)
