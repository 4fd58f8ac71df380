"""ScholarQA-Multi: organization, coverage and relevance of an answer on 1 to 5, judged against an expert's answer.

Source: AkariAsai/ScholarQABench@95e6fc52 `prometheus_eval.py`, `rubrics/prometheus_rubrics_v8.json`. `question.gold`:

    answer          the expert's answer, the reference (joined by question, P5)
    rubric          the published scales: [{aspect, criteria_description, score1_description ... score5_description}];
                    without it those of multi_rubric.yaml, in our own words
    truncate_words  if given, the answer cut to so many words is judged as well (length audit)

Passages are never shown, as upstream's inert flags have it for all but OpenScholar's own files (P1).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt
import yaml

from vivavoce.errors import DataError
from vivavoce.grading.base import Derived, Grading, Means, MeasureSpec, Value
from vivavoce.grading.common import EFFORT, effort, failed, failure, judgement
from vivavoce.metrics.prometheus import published_raw, published_score, truncate
from vivavoce.records import Judgement, JudgeReply, JudgeRequest, Profile, Question, Rollout

ASPECTS = ("organization", "coverage", "relevance")
WORST = 1.0  # the lowest of the scale: what a failed rollout gets
INSTRUCTION = "Answer the question from the scientific literature, in several paragraphs, and cite the papers that you rely on."


def average(means: Means) -> npt.NDArray[np.float64]:
    """Mean of the aspects' means: the tables' "LLM" column."""
    return np.asarray(sum(means[aspect] for aspect in ASPECTS) / len(ASPECTS))


ASPECT_MEASURES: tuple[MeasureSpec, ...] = (
    *(Value(name=aspect, kind="mean", scale=1, worst=WORST) for aspect in ASPECTS),
    Derived(name="prometheus", inputs=ASPECTS, combine=average, scale=1),
    Value(name="prometheus_parsed", kind="mean"),
    *(Value(name=f"{aspect}_truncated", kind="mean", scale=1, worst=WORST) for aspect in ASPECTS),
)
MEASURES: tuple[MeasureSpec, ...] = (*ASPECT_MEASURES, *EFFORT)


def grade(question: Question, rollout: Rollout) -> Grading:
    """The three aspects and the effort."""
    judgements = yield from prometheus_grading(question, rollout)
    return judgements + effort(rollout)


def prometheus_grading(question: Question, rollout: Rollout) -> Grading:
    """The judgements of ASPECT_MEASURES. Other graders run it with `yield from`.

    A failed rollout scores 1, the lowest of the scale. `prometheus_parsed` is the share of aspects with a readable score,
    where there was something to judge.
    """
    limit = question.gold.get("truncate_words")
    names = ASPECTS if limit is None else (*ASPECTS, *(f"{aspect}_truncated" for aspect in ASPECTS))
    if failed(rollout):
        return failure(rollout, *names, value=WORST)
    answer = rollout.answer or ""
    requests = [_request(question, name, answer if name in ASPECTS else truncate(answer, int(limit or 0))) for name in names]
    replies = yield requests
    judgements: list[Judgement] = []
    for name, reply in zip(names, replies, strict=True):
        judgements += _judgements(rollout, name, reply, _own(question))
    return judgements + _parsed(rollout, replies[: len(ASPECTS)])


def scales(question: Question) -> Mapping[str, Mapping[str, Any]]:
    """The scale of each aspect: the benchmark's, or our own where it has none."""
    listed = question.gold.get("rubric") or _own_scales()
    found = {str(entry.get("aspect")): entry for entry in listed if isinstance(entry, Mapping)}
    if missing := [aspect for aspect in ASPECTS if aspect not in found]:
        raise DataError(
            f"question {question.id}: gold['rubric'] has no scale for {', '.join(missing)}; it has {', '.join(found)}."
        )
    return found


@cache
def _own_scales() -> tuple[Mapping[str, Any], ...]:
    text = files("vivavoce").joinpath("grading", "multi_rubric.yaml").read_text(encoding="utf-8")
    return tuple(yaml.safe_load(text))


def _own(question: Question) -> bool:
    return not question.gold.get("rubric")


def _request(question: Question, name: str, answer: str) -> JudgeRequest:
    reference = question.gold.get("answer")
    if not isinstance(reference, str):
        raise DataError(f"question {question.id}: no reference answer. Grade it with a benchmark that has gold['answer'].")
    scale = scales(question)[name.removesuffix("_truncated")]
    fields = {
        "instruction": INSTRUCTION,
        "question": question.text,
        "answer": answer,
        "reference": reference,
        "criterion": scale["criteria_description"],
        "descriptions": [scale[f"score{score}_description"].strip() for score in range(1, 6)],
    }
    return JudgeRequest(task="prometheus", fields=fields)


def _judgements(rollout: Rollout, name: str, reply: JudgeReply, own: bool) -> list[Judgement]:
    detail = {"words": len((rollout.answer or "").split()), "scale": "vivavoce" if own else "published", "reply": reply.text}
    published = published_score(reply.text) if reply.text else None
    why = f"dropped as published: {published_raw(reply.text)[:40]!r} is not 1 to 5" if reply.text else reply.error
    value = None if reply.verdict is None else float(reply.verdict)
    found: list[tuple[Profile, float | None, str]] = [
        ("as_published", published, why if published is None else ""),
        ("corrected", value, reply.error),
    ]
    return [
        judgement(rollout, name, profile, score, reason=reason, detail=detail, replies=[reply], unscored=score is None)
        for profile, score, reason in found
    ]


def _parsed(rollout: Rollout, replies: list[JudgeReply]) -> list[Judgement]:
    published = sum(published_score(reply.text) is not None for reply in replies) / len(replies)
    corrected = sum(reply.verdict is not None for reply in replies) / len(replies)
    return [
        judgement(rollout, "prometheus_parsed", "as_published", published),
        judgement(rollout, "prometheus_parsed", "corrected", corrected),
    ]
