"""The judge audit: how often a judge is right on adversarial citation cases, and whether it keeps its verdict when padded.

The claim comes from the question, not from the rollout, so that any agent does (`constant`). Each case is judged twice: as it
is, and with neutral sentences around the passage. Profile `corrected` only: nothing of this is published.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vivavoce.audit.cases import padded
from vivavoce.errors import DataError
from vivavoce.grading.base import Derived, Grading, Means, MeasureSpec, Value
from vivavoce.grading.common import judgement
from vivavoce.metrics.citations.scoring import passage_text
from vivavoce.records import JudgeReply, JudgeRequest, Passage, Question, Rollout


def balanced(means: Means) -> npt.NDArray[np.float64]:
    """Mean of the accuracies on supported and on other cases: 0.5 for a judge that always says the same."""
    right, rightly, supported = means["judge_accuracy"], means["judge_supports_rightly"], means["case_supported"]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((rightly / supported + (right - rightly) / (1 - supported)) / 2)


MEASURES: tuple[MeasureSpec, ...] = (
    Value(name="judge_accuracy", profiles=("corrected",)),
    Derived(
        name="judge_balanced_accuracy",
        inputs=("judge_accuracy", "judge_supports_rightly", "case_supported"),
        combine=balanced,
        profiles=("corrected",),
    ),
    Value(name="judge_recall", profiles=("corrected",)),
    Value(name="judge_specificity", profiles=("corrected",)),
    Value(name="judge_supports_rightly", profiles=("corrected",)),
    Value(name="case_supported", profiles=("corrected",)),
    Value(name="judge_says_supported", profiles=("corrected",), higher_is_better=False),
    Value(name="judge_unparsable", profiles=("corrected",), higher_is_better=False),
    Value(name="judge_accuracy_padded", profiles=("corrected",)),
    Value(name="judge_keeps_verdict", profiles=("corrected",)),
)


def grade(question: Question, rollout: Rollout) -> Grading:
    """Accuracy (on supported cases: recall; on others: specificity), unparsable replies, accuracy and constancy when padded."""
    if not question.contexts or "verdict" not in question.gold:
        raise DataError(
            f"question {question.id}: no case of the judge audit. Read it with vivavoce.benchmarks.judge_audit:read."
        )
    passage = question.contexts[0]
    plain, long = yield [_request(question, passage.text), _request(question, padded(passage.text))]
    expected = question.gold["verdict"] == "supported"
    said, said_long = _said(plain), _said(long)
    detail = {
        "expected": question.gold["verdict"],
        "verdict": plain.verdict,
        "padded": long.verdict,
        "kind": question.gold["kind"],
    }
    pair = None if said is None or said_long is None else said == said_long
    right = None if said is None else said == expected
    values: dict[str, bool | None] = {
        "judge_accuracy": right,
        "judge_recall" if expected else "judge_specificity": right,
        "judge_supports_rightly": None if said is None else said and expected,
        "case_supported": expected,
        "judge_says_supported": said,
        "judge_unparsable": said is None,
        "judge_accuracy_padded": None if said_long is None else said_long == expected,
        "judge_keeps_verdict": pair,
    }
    return [
        judgement(
            rollout,
            name,
            "corrected",
            value,
            reason=(plain.error or long.error) if value is None else "",
            detail=detail if name == "judge_accuracy" else None,
            replies=[plain, long],
            unscored=value is None,
        )
        for name, value in values.items()
    ]


def _request(question: Question, text: str) -> JudgeRequest:
    passage = Passage(id=question.id, title=question.contexts[0].title, text=text)
    return JudgeRequest(task="entailment", fields={"passage": passage_text(passage), "claim": question.text})


def _said(reply: JudgeReply) -> bool | None:
    return None if reply.verdict is None else bool(reply.verdict == "supported")
