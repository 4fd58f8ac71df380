"""Grades AirQA-Real's questions: each by its own evaluator, in both profiles, from the same judge replies.

`accuracy` is the micro mean over questions (OpenDFM/NeuSym-RAG@596e644e, utils/eval_utils.py and evaluation/evaluator.py);
I-Avg, valid answers and turns are PaperGuide's (arXiv:2601.12988). docs/divergences.md lists where profiles differ.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any

from vivavoce.grading.base import Grading, Macro, MeasureSpec, Value
from vivavoce.grading.common import EFFORT, effort, i_avg, judgement, outcome
from vivavoce.metrics.airqa.logic import Scoring, UnscoredError, score_corrected, score_published
from vivavoce.records import Judgement, JudgeReply, JudgeRequest, Profile, Question, Rollout

CATEGORIES = ("text", "table", "image", "formula", "metadata")  # where an answer stands; a question may have several
MEASURES: tuple[MeasureSpec, ...] = (
    Value(name="accuracy"),
    Macro(name="accuracy_macro", input="accuracy", slices=CATEGORIES),
    *i_avg("accuracy"),
    *EFFORT,
)
MAX_CHARS = 120_000  # of an observation that is scored in place of an answer; upstream cuts at 30,000 tokens


def grade(question: Question, rollout: Rollout) -> Grading:
    """The judgements of one rollout: `accuracy` and the measures of effort.

    A rollout that used up its turns is scored on its last observation as published (upstream's live path) and 0 corrected; any
    other failure is 0 in both, and no judge is asked about it.
    """
    scorings: dict[Profile, Scoring] = {}
    published = _published_answer(rollout)
    if published is not None:
        scorings["as_published"] = score_published(question.gold["evaluator"], published)
    if outcome(rollout) == "answered":
        scorings["corrected"] = score_corrected(with_errata(question.gold), rollout.answer)
    accuracies = yield from together(rollout, "accuracy", scorings)
    return accuracies + effort(rollout)


def together(
    rollout: Rollout, measure: str, scorings: Mapping[Profile, Scoring]
) -> Generator[list[JudgeRequest], list[JudgeReply], list[Judgement]]:
    """Drive the scorings of both profiles side by side; a profile without one failed and gets 0."""
    profiles: tuple[Profile, ...] = ("as_published", "corrected")
    done: dict[Profile, Judgement] = {}
    replies: dict[Profile, list[JudgeReply]] = {profile: [] for profile in profiles}
    waiting: dict[Profile, JudgeRequest] = {}
    for profile in profiles:
        if profile not in scorings:
            reason = rollout.reason or f"nothing that this profile grades: {outcome(rollout)}"
            done[profile] = judgement(rollout, measure, profile, 0.0, reason=reason)
    running = dict(scorings)
    while running:
        for profile, scoring in list(running.items()):
            try:
                waiting[profile] = scoring.send(replies[profile][-1]) if replies[profile] else next(scoring)
            except StopIteration as end:
                done[profile] = judgement(rollout, measure, profile, end.value, replies=replies[profile])
            except UnscoredError as error:
                done[profile] = judgement(
                    rollout, measure, profile, None, reason=str(error), replies=replies[profile], unscored=True
                )
            if profile in done:
                del running[profile]
        if running:
            answers = yield [waiting[profile] for profile in running]
            for profile, reply in zip(running, answers, strict=True):
                replies[profile].append(reply)
    return [done[profile] for profile in profiles]


def with_errata(gold: Mapping[str, Any]) -> dict[str, Any]:
    """The evaluator with the keywords that the errata put in place of recorded ones (where the reader attached errata)."""
    evaluator: dict[str, Any] = gold["evaluator"]
    for entry in gold.get("errata", ()):
        if "kwargs" in entry:
            evaluator = {**evaluator, "eval_kwargs": {**evaluator["eval_kwargs"], **entry["kwargs"]}}
    return evaluator


def _published_answer(rollout: Rollout) -> str | None:
    """What upstream would score; None for a failure. Its "[ERROR]:" answers are failures in any case of letters."""
    ended = outcome(rollout)
    if ended == "limit" and rollout.turns:
        answer = rollout.turns[-1].observation[:MAX_CHARS]
    elif ended == "answered":
        answer = rollout.answer or ""
    else:
        return None
    return None if answer.upper().startswith("[ERROR]:") else answer
