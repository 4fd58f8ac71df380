"""Two experts' rubrics of one question: does an answer score alike by both? Profile `corrected` only.

Source: Asai et al. 2026 (OpenScholar, Nature 650:857), agreement on 10 questions, with the general criteria and without. Theirs
correlates systems within a question and drops the sign (R13 of docs/divergences.md); `python -m
vivavoce.audit.annotators` prints that. Here one system's answers are correlated over the questions, with sign and interval.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from vivavoce.errors import DataError
from vivavoce.grading.base import Derived, Grading, Means, MeasureSpec, Value
from vivavoce.grading.common import judgement
from vivavoce.grading.rubric import rubric_grading
from vivavoce.records import Question, Rollout

TOTALS = {"general": "rubric_criteria", "items": "rubric_criteria_items"}  # with the general criteria; the experts' items alone
PARTS = ("first", "second", "gap", "product", "first_square", "second_square")


def _pearson(name: str) -> Callable[[Means], npt.NDArray[np.float64]]:
    """Correlation of the two annotators' scores from their moments; NaN where one of them does not vary."""

    def combine(means: Means) -> npt.NDArray[np.float64]:
        x, y, _, xy, xx, yy = (np.asarray(means[f"annotators_{name}_{part}"], dtype=np.float64) for part in PARTS)
        spread = (xx - x**2) * (yy - y**2)
        whole = np.sqrt(np.where(spread > 1e-12, spread, np.nan))
        return np.asarray(np.clip((xy - x * y) / whole, -1, 1))

    return combine


def _measures(name: str) -> tuple[MeasureSpec, ...]:
    own = tuple(f"annotators_{name}_{part}" for part in PARTS)
    return (
        *(Value(name=part, kind="mean", profiles=("corrected",)) for part in own),
        Derived(name=f"annotators_{name}_pearson", inputs=own, combine=_pearson(name), scale=1, profiles=("corrected",)),
    )


MEASURES: tuple[MeasureSpec, ...] = (*_measures("general"), *_measures("items"))


def grade(question: Question, rollout: Rollout) -> Grading:
    """Each annotator's score of the answer and their distance; nothing (and no call) for a question with one rubric.

    A failed rollout, or a missing verdict, leaves the question unscored. Raises DataError unless both rubrics are to be judged.
    """
    if len(question.gold.get("rubrics", ())) < 2:
        return []
    if question.gold.get("annotators", "mean") != "mean":
        raise DataError(f"question {question.id}: option annotators is not mean; mean judges by both rubrics.")
    judgements = yield from rubric_grading(question, rollout)
    whole = next(item for item in judgements if item.measure == "rubric_criteria" and item.profile == "corrected")
    kept = [whole]
    for name, total in TOTALS.items():
        scores = [entry.get(total) for entry in whole.detail.get("rubrics", ())][:2]
        missing = len(scores) < 2 or None in scores
        for part, value in zip(PARTS, [None] * len(PARTS) if missing else _moments(*scores), strict=True):
            measure = f"annotators_{name}_{part}"
            kept.append(judgement(rollout, measure, "corrected", value, reason=whole.reason, unscored=missing))
    return kept


def _moments(x: float, y: float) -> list[float | None]:
    return [x, y, abs(x - y), x * y, x * x, y * y]
