"""Grades M3SciQA's validation questions (452, in AirQA's record format): a judge selects 0, 0.5 or 1.

Source: OpenDFM/NeuSym-RAG@596e644e, evaluation/m3sciqa_functions.py. Published: the first `{...}` of the reply, its
`selection` as a number of any size, any error 0. Corrected: 0, 0.5 or 1, otherwise unscored.
"""

from __future__ import annotations

from vivavoce.grading.airqa import together
from vivavoce.grading.base import Grading, MeasureSpec, Value
from vivavoce.grading.common import EFFORT, effort, failed, i_avg
from vivavoce.metrics.airqa.logic import UPSTREAM_ERRORS, Scoring, UnscoredError
from vivavoce.metrics.airqa.verdict import published_selection
from vivavoce.records import JudgeRequest, Profile, Question, Rollout

MEASURES: tuple[MeasureSpec, ...] = (Value(name="accuracy", kind="mean"), *i_avg("accuracy"), *EFFORT)


def grade(question: Question, rollout: Rollout) -> Grading:
    """The judgements of one rollout: `accuracy` (0, 0.5 or 1) and the measures of effort. Failures are 0 and not judged."""
    scorings: dict[Profile, Scoring] = {}
    if not failed(rollout):
        kwargs = question.gold["evaluator"]["eval_kwargs"]
        request = JudgeRequest(
            task="m3sciqa",
            fields={
                "question": kwargs["question"],
                "reference": str(kwargs["reference_answer"]).strip(),
                "answer": rollout.answer,
            },
        )
        scorings = {"as_published": _published(request), "corrected": _corrected(request)}
    accuracies = yield from together(rollout, "accuracy", scorings)
    return accuracies + effort(rollout)


def _published(request: JudgeRequest) -> Scoring:
    reply = yield request
    if reply.error and not reply.text:
        raise UnscoredError(reply.error)
    try:
        return published_selection(reply.text)
    except UPSTREAM_ERRORS:
        return 0.0


def _corrected(request: JudgeRequest) -> Scoring:
    reply = yield request
    try:
        value = float(reply.verdict["selection"] if isinstance(reply.verdict, dict) else reply.verdict)
    except (KeyError, TypeError, ValueError):
        raise UnscoredError(reply.error or "the judge's reply holds no selection") from None
    if value not in (0, 0.5, 1):
        raise UnscoredError(f"the judge selected {value}, expected 0, 0.5 or 1")
    return value
