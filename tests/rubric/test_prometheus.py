"""Prometheus scores: upstream's executed decodings, the grader's outcomes, the length audit."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vivavoce.audit.compare import length_sensitivity
from vivavoce.benchmarks.scholarqa_judged import read
from vivavoce.errors import ConfigError, DataError
from vivavoce.grading.prometheus import ASPECTS, MEASURES, average, grade, scales
from vivavoce.grading.scholarqa_multi import MEASURES as ALL
from vivavoce.judges.base import run_grading
from vivavoce.judges.lexical import LexicalJudge
from vivavoce.judges.prompts import load_task
from vivavoce.metrics.prometheus import published_raw, published_score, truncate
from vivavoce.metrics.verdicts import parse_verdict
from vivavoce.records import Judgement, JudgeReply, JudgeRequest, Question, Rollout

# P2: what the corrected profile reads where upstream's rule counts nothing (or something else)
CORRECTED = {
    "trailing space": 4, "trailing period": 4, "paren": 4, "no space": 4, "text": 4, "no result, phrase upper": 3,
}  # fmt: skip


def test_scores_equal_upstreams_executed_decodings(shared: Path) -> None:
    cases = json.loads((shared / "golden/scholarqabench/prometheus_micro.json").read_text(encoding="utf-8"))
    decoded = {name: case for name, case in cases.items() if isinstance(case, dict) and "decoded" in case}
    assert len(decoded) == 16
    for name, case in decoded.items():
        assert (published_raw(case["decoded"]), published_score(case["decoded"])) == (case["raw_score"], case["counted"]), name
        verdict = parse_verdict(case["decoded"], load_task("prometheus").verdict).value
        assert verdict == CORRECTED.get(name, case["counted"]), name


@given(st.text(max_size=60), st.integers(0, 8))
def test_truncation_keeps_the_first_words(answer: str, words: int) -> None:
    assert truncate(answer, words).split() == answer.split()[:words]
    assert answer.startswith(truncate(answer, words))


class Scripted:
    """A judge with one reply an aspect, found by its scale's first word."""

    name = "scripted"

    def __init__(self, *replies: str) -> None:
        self.replies = replies
        self.asked: list[JudgeRequest] = []

    async def ask(self, request: JudgeRequest) -> JudgeReply:
        text = self.replies[len(self.asked) % len(self.replies)]
        self.asked.append(request)
        verdict = parse_verdict(text, load_task("prometheus").verdict)
        return JudgeReply(text=text, verdict=verdict.value, error=verdict.error)


def question(**gold: Any) -> Question:
    return Question(id="q", benchmark="b", task="long_form", text="Why?", gold={"answer": "An expert's answer.", **gold})


def judged(
    judge: Any, answer: str | None = "one two three four", asked: Question | None = None
) -> dict[tuple[str, str], Judgement]:
    rollout = Rollout(
        question_id="q", agent="a", model="m", seed=0, outcome="answered" if answer is not None else "error", answer=answer
    )
    found = asyncio.run(run_grading(grade(asked or question(), rollout), judge))
    return {(item.measure, item.profile): item for item in found}


def test_scores_and_their_coverage() -> None:
    judge = Scripted("Feedback: fine [RESULT] 4", "Feedback: hm [RESULT] (3)", "no score")
    found = judged(judge)
    published = [found[aspect, "as_published"] for aspect in ASPECTS]
    corrected = [found[aspect, "corrected"] for aspect in ASPECTS]
    assert [(item.value, item.status) for item in published] == [(4, "scored"), (None, "unscored"), (None, "unscored")]
    assert [(item.value, item.status) for item in corrected] == [(4, "scored"), (3, "scored"), (None, "unscored")]
    assert found["prometheus_parsed", "as_published"].value == pytest.approx(1 / 3)
    assert found["prometheus_parsed", "corrected"].value == pytest.approx(2 / 3)
    assert {name for name, _ in found} <= {measure.name for measure in MEASURES} < {measure.name for measure in ALL}
    assert found["organization", "corrected"].detail["words"] == 4


def test_requests_carry_reference_and_scale_of_each_aspect() -> None:
    judge = Scripted("[RESULT] 5")
    judged(judge)
    assert [request.fields["reference"] for request in judge.asked] == ["An expert's answer."] * 3
    assert len({request.fields["criterion"] for request in judge.asked}) == 3
    assert all(len(request.fields["descriptions"]) == 5 for request in judge.asked)


def test_length_audit_judges_the_cut_answer_too() -> None:
    judge = Scripted("[RESULT] 5", "[RESULT] 4", "[RESULT] 3", "[RESULT] 2", "[RESULT] 2", "[RESULT] 2")
    found = judged(judge, asked=question(truncate_words=2))
    assert [request.fields["answer"] for request in judge.asked[3:]] == ["one two"] * 3
    assert found["coverage", "corrected"].value == 4
    assert found["coverage_truncated", "corrected"].value == 2


def test_failures_are_at_the_lowest_of_the_scale() -> None:
    for answer in (None, "  "):
        judge = Scripted("[RESULT] 5")
        found = judged(judge, answer)
        assert judge.asked == []
        assert {found[aspect, profile].value for aspect in ASPECTS for profile in ("as_published", "corrected")} == {1.0}


def test_missing_reference_and_scales_are_named() -> None:
    with pytest.raises(DataError, match="no reference answer"):
        judged(Scripted("x"), asked=Question(id="q", benchmark="b", task="long_form", text="?"))
    with pytest.raises(DataError, match="no scale for coverage, relevance"):
        scales(question(rubric=[{"aspect": "organization"}]))


def test_average_is_the_mean_of_the_aspects_means() -> None:
    means = {"organization": np.array([4.0, 1.0]), "coverage": np.array([3.0, 1.0]), "relevance": np.array([5.0, 4.0])}
    assert average(means).tolist() == [4.0, 2.0]


def test_lexical_judge_scores_by_overlap_and_length_shows() -> None:
    near = judged(LexicalJudge(), "An expert's answer.")
    far = judged(LexicalJudge(), "Something else entirely was said here.")
    assert (near["coverage", "as_published"].value, far["coverage", "as_published"].value) == (5, 1)
    assert length_sensitivity(near.values(), "coverage").n == 1


def test_published_scales_and_questions_are_read(mirror: Path) -> None:
    folder = mirror / "raw.githubusercontent.com/AkariAsai/ScholarQABench/95e6fc52b0a8a0ce0a74956029991e3bb00c38b9"
    files = {
        "questions": folder / "data/scholarqa_multi/human_answers.json",
        "rubric": folder / "rubrics/prometheus_rubrics_v8.json",
    }
    questions = list(read(files, {"task": "multi", "truncate_words": 200}))
    assert len(questions) == 108
    assert set(scales(questions[0])) == set(ASPECTS)
    judge = Scripted("[RESULT] 5")
    rollout = Rollout(question_id=questions[0].id, agent="a", model="m", seed=0, outcome="answered", answer="An answer.")
    found = asyncio.run(run_grading(grade(questions[0], rollout), judge))
    assert next(item for item in found if item.measure == "coverage").detail["scale"] == "published"
    assert judge.asked[0].fields["criterion"].startswith("Organization")
    assert len(judge.asked) == 3  # the answer is shorter than 200 words: the cut one is the same request


def test_unknown_annotator_policy_is_named() -> None:
    with pytest.raises(ConfigError, match="mean or first"):
        list(read({}, {"task": "cs", "annotators": "best"}))
