"""Long answers with citations: ScholarQA-Multi, -Bio and -Neuro, and the citation part of QASA and ScholarQA-CS.

Source: Asai et al. 2024 (OpenScholar), citation recall, precision and F1; AkariAsai/ScholarQABench@95e6fc52
`citation_correctness_eval.py` (`--citations`). F1 is the harmonic mean of the two corpus means, as in the paper's tables; the
script computes none.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import numpy.typing as npt

from vivavoce.errors import DataError
from vivavoce.grading.base import Derived, Grading, Means, MeasureSpec, Value
from vivavoce.grading.common import EFFORT, effort, failed, failure, judgement
from vivavoce.grading.entailment import entail
from vivavoce.metrics.citations import corrected, longform, published
from vivavoce.metrics.citations.scoring import Score
from vivavoce.records import Judgement, JudgeReply, Profile, Question, Rollout


def harmonic(means: Means) -> npt.NDArray[np.float64]:
    """F1 of mean recall and mean precision; 0 where both are 0."""
    recall, precision = np.asarray(means["citation_recall"]), np.asarray(means["citation_precision"])
    total = recall + precision
    return np.divide(2 * recall * precision, total, out=np.zeros_like(total, dtype=np.float64), where=total != 0)


SCORES = ("citation_recall", "citation_precision", "citation_f1_item")
CITATIONS: tuple[MeasureSpec, ...] = (
    Value(name="citation_recall", kind="mean"),
    Value(name="citation_precision", kind="mean"),
    Derived(name="citation_f1", inputs=("citation_recall", "citation_precision"), combine=harmonic),
    Value(name="citation_f1_item", kind="mean"),
)
LENGTHS: tuple[MeasureSpec, ...] = (
    Value(name="cited_papers", kind="mean", scale=1),
    Value(name="words", kind="mean", scale=1),
)
MEASURES: tuple[MeasureSpec, ...] = (*CITATIONS, *LENGTHS, *EFFORT)


def grade(question: Question, rollout: Rollout) -> Grading:
    """Citations, length and effort of a long answer."""
    judgements = yield from citation_grading(question, rollout)
    return judgements + effort(rollout)


def citation_grading(question: Question, rollout: Rollout) -> Grading:
    """The judgements of CITATIONS and LENGTHS. Other graders run it with `yield from`.

    A failed rollout scores 0; as published, an empty answer leaves the means of all but the length (C6).
    """
    if failed(rollout):
        return [item for item in failure(rollout, *SCORES, "cited_papers", "words") if _kept(item)]
    answer, base, shown = rollout.answer or "", index_base(question, rollout), shown_passages(rollout)
    scores, replies = yield from entail(
        {
            "as_published": longform.as_published(answer, rollout.contexts),
            "corrected": longform.as_corrected(answer, rollout.contexts, shown, base=base),
        }
    )
    judgements = []
    published_score = scores["as_published"]
    if published_score is not None:
        judgements += score_judgements(rollout, "as_published", published_score, replies["as_published"])
        judgements.append(judgement(rollout, "cited_papers", "as_published", published.cited(answer)))
    score = scores["corrected"]
    assert score is not None
    judgements += score_judgements(rollout, "corrected", score, replies["corrected"])
    judgements.append(judgement(rollout, "cited_papers", "corrected", score.counts["papers"]))
    judgements.append(judgement(rollout, "words", "as_published", published.words(answer)))
    judgements.append(judgement(rollout, "words", "corrected", corrected.words(answer)))
    return judgements


def score_judgements(rollout: Rollout, profile: Profile, score: Score, replies: list[JudgeReply]) -> list[Judgement]:
    """Recall, precision and item F1 of one answer; unscored if a verdict is missing. The statements stand with the recall."""
    total = score.recall + score.precision
    values = (score.recall, score.precision, 2 * score.recall * score.precision / total if total else 0.0)
    reason = ""
    if score.missing:
        first = next((reply.error for reply in replies if reply.error), "no verdict could be read")
        reason = f"{score.missing} of {score.calls} entailment verdicts are missing: {first}"
    detail = {"statements": score.statements, "supported": score.supported, "calls": score.calls}
    details: tuple[dict[str, Any], ...] = (
        {**detail, "counts": score.counts, "trace": score.trace},
        {"citations": score.citations, "sound": score.sound},
        {},
    )
    return [
        judgement(rollout, measure, profile, value, reason=reason, detail=about, replies=heard, unscored=bool(score.missing))
        for measure, value, about, heard in zip(SCORES, values, details, (replies, (), ()), strict=True)
    ]


def index_base(question: Question, rollout: Rollout) -> int:
    """The number of the first passage: the rollout's `index_base` (a predictions file's), else the question's, else 0."""
    base = rollout.extra.get("index_base", question.extra.get("index_base", 0))
    if base not in (0, 1):
        raise DataError(f"question {question.id}: index_base is {base!r}; expected 0 or 1, the number of the first passage.")
    return int(base)


def shown_passages(rollout: Rollout) -> Collection[int]:
    """Which of `rollout.contexts` the agent saw: all, the first `extra["shown"]`, or the indices listed there."""
    shown = rollout.extra.get("shown")
    if shown is None:
        return range(len(rollout.contexts))
    if isinstance(shown, int):
        return range(min(shown, len(rollout.contexts)))
    return frozenset(int(index) for index in shown if int(index) < len(rollout.contexts))


def _kept(item: Judgement) -> bool:
    return item.profile == "corrected" or item.measure == "words"
