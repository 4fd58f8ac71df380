"""QASA: ROUGE-L against the expert's answer, and citations.

Source: AkariAsai/ScholarQABench@95e6fc52 `citation_correctness_eval.py` L142 (ROUGE) and `--citations`. As published, the
script never runs its ROUGE (C1) and would report an unseeded bootstrap median (C2): here the mean is a value in both profiles
and the median, seeded, stands beside it.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from vivavoce.errors import DataError
from vivavoce.grading.base import Grading, MeasureSpec, Statistic, Value
from vivavoce.grading.common import EFFORT, effort, failed, failure, judgement
from vivavoce.grading.long_form import CITATIONS, LENGTHS, citation_grading
from vivavoce.metrics.citations import corrected, published
from vivavoce.metrics.rouge import Rouge
from vivavoce.records import Question, Rollout

RESAMPLES = 1000


def bootstrap_median(values: npt.NDArray[np.float64]) -> float:
    """The middle of rouge-score's BootstrapAggregator for rougeL after `np.random.seed(0)`, in [0, 1]; NaN for no values.

    The published scorer aggregates rougeL first, so its resamples are the generator's first thousand.
    """
    if not values.size:
        return float("nan")
    random = np.random.RandomState(0)
    means = [values[random.choice(values.size, size=values.size)].mean() for _ in range(RESAMPLES)]
    return float(np.percentile(means, 50))


MEASURES: tuple[MeasureSpec, ...] = (
    Value(name="rouge_l", kind="mean"),
    Statistic(name="rouge_l_bootstrap_median", input="rouge_l", compute=bootstrap_median, profiles=("as_published",)),
    *CITATIONS,
    *LENGTHS,
    *EFFORT,
)


def grade(question: Question, rollout: Rollout) -> Grading:
    """ROUGE-L F-measure (citations removed), citations and effort."""
    gold = question.gold.get("answer")
    if not isinstance(gold, str) or not gold.strip():
        raise DataError(f"question {question.id}: no gold answer; ROUGE-L needs the text of `answer`.")
    citations = yield from citation_grading(question, rollout)
    if failed(rollout):
        return failure(rollout, "rouge_l") + citations + effort(rollout)
    answer = rollout.answer or ""
    compare = _rouge().compare
    values = [
        judgement(rollout, "rouge_l", "as_published", compare(gold, published.claim(answer)).rougeL.fmeasure),
        judgement(rollout, "rouge_l", "corrected", compare(corrected.claim(gold), corrected.claim(answer)).rougeL.fmeasure),
    ]
    return values + citations + effort(rollout)


@cache
def _rouge() -> Rouge:
    return Rouge("ascii")
