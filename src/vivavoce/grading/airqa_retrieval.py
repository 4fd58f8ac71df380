"""Grades AirQA-Real's retrieval questions: accuracy of the one title answered, and recall of rankings that go deeper.

`accuracy` and the measures of effort are those of `grading.airqa`. Recall at 5, 10 and 20 and the reciprocal rank are ours:
the published runs answer with one title. A ranked title is right by the same rule as an answer (spec 2.3: rounded ratio of at
least 95). Questions that another evaluator judges, and rollouts that rank nothing, have no recall.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from vivavoce.grading import airqa
from vivavoce.grading.base import Grading, MeasureSpec, Value
from vivavoce.grading.common import judgement
from vivavoce.metrics.airqa import corrected, published
from vivavoce.metrics.ranking import recall_at, reciprocal_rank
from vivavoce.records import Judgement, Profile, Question, Rollout

DEPTHS = (5, 10, 20)
RELEVANCE = "eval_paper_relevance_with_reference_answer"
MEASURES: tuple[MeasureSpec, ...] = (
    *airqa.MEASURES,
    *(Value(name=f"recall_{depth}") for depth in DEPTHS),
    Value(name="reciprocal_rank", kind="mean"),
)


def grade(question: Question, rollout: Rollout) -> Grading:
    """The judgements of one rollout: those of `grading.airqa`, then recall and reciprocal rank in both profiles."""
    judgements = yield from airqa.grade(question, rollout)
    return judgements + ranking(question, rollout)


def ranking(question: Question, rollout: Rollout) -> list[Judgement]:
    """Recall at 5, 10, 20 and the reciprocal rank of `extra["ranked_titles"]`."""
    evaluator = question.gold["evaluator"]
    titles = rollout.extra.get("ranked_titles")
    applies = evaluator["eval_func"] == RELEVANCE and titles is not None
    kwargs: dict[str, Any] = evaluator["eval_kwargs"]
    rules: dict[Profile, Callable[[str], bool]] = {
        "as_published": lambda title: published.paper_relevance(title, **kwargs) > 0,
        "corrected": lambda title: corrected.paper_relevance(title, kwargs),
    }
    reason = "" if applies else "no ranking" if titles is None else f"judged by {evaluator['eval_func']}, not by relevance"
    judgements = []
    for profile, right in rules.items():
        relevant = [right(str(title)) for title in titles] if applies and titles is not None else []
        values = {f"recall_{depth}": recall_at(depth, relevant) for depth in DEPTHS}
        values["reciprocal_rank"] = reciprocal_rank(relevant)
        for measure, value in values.items():
            judgements.append(judgement(rollout, measure, profile, value if applies else None, reason=reason))
    return judgements
