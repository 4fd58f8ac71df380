"""The killer's grader: one judge call an answer."""

from __future__ import annotations

from vivavoce.grading.base import Grading, Value
from vivavoce.grading.common import both, failed, failure
from vivavoce.records import JudgeRequest, Question, Rollout

MEASURES = (Value(name="correct"),)


def grade(question: Question, rollout: Rollout) -> Grading:
    """Asks whether the answer says the same as the reference."""
    if failed(rollout):
        return failure(rollout, "correct")
    fields = {"question": question.text, "reference": question.gold["reference"], "answer": rollout.answer}
    (reply,) = yield [JudgeRequest(task="reference_answer", fields=fields)]
    unscored = reply.verdict is None
    return both(rollout, "correct", reply.verdict, reason=reply.error, replies=[reply], unscored=unscored)
