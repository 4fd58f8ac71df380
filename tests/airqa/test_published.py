"""The `as_published` profile reproduces the executed cases of upstream's evaluators (golden/airqa/eval_golden.jsonl)."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from vivavoce.grading.airqa import grade
from vivavoce.metrics.airqa.fuzzy import METHODS, similarity
from vivavoce.metrics.airqa.logic import UPSTREAM_ERRORS, Scoring, published_tree, score_published
from vivavoce.metrics.airqa.verdict import published_selection
from vivavoce.records import JudgeReply, Question, Rollout

# Upstream runs these predictions as code; here a literal parser refuses them, so a right result becomes 0.
EXECUTED = {
    "obj-184": "string concatenation with +",
    "obj-186": "__import__ and a call",
    "obj-187": "calls of module functions",
    "obj-258": "a call of dict()",
}


def _value(case: dict[str, Any], name: str) -> Any:
    """The Python object of a case: JSON where it is one, else read from its repr."""
    text = case.get(f"{name}_py")
    if text in ("inf", "nan"):
        return float(text)
    return ast.literal_eval(text) if text is not None else case[name]


def _drive(scoring: Scoring, replies: list[str]) -> tuple[float, int]:
    """The score, and how many requests were asked."""
    asked = 0
    try:
        next(scoring)
        while True:
            asked += 1
            scoring.send(JudgeReply(text=replies[asked - 1]))
    except StopIteration as end:
        return end.value, asked


@pytest.fixture(scope="module")
def cases(shared: Path) -> list[dict[str, Any]]:
    lines = (shared / "golden" / "airqa" / "eval_golden.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def _tree_cases(cases: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for case in cases:
        if case["kind"] != "wrapper" and case["function"] not in ("eval_m3sciqa", "eval_scidqa"):
            yield case


def test_scores_errors_and_calls_equal_upstream(cases: list[dict[str, Any]]) -> None:
    different = {}
    count = 0
    for case in _tree_cases(cases):
        count += 1
        pred, kwargs, function = _value(case, "pred"), _value(case, "kwargs"), case["function"]
        replies = case.get("stub_reply", [])
        replies = [replies] if isinstance(replies, str) else replies
        score = error = asked = None
        try:
            score, asked = _drive(published_tree(function, pred, kwargs), replies)
        except UPSTREAM_ERRORS as raised:
            error = type(raised).__name__
        whole, _ = _drive(score_published({"eval_func": function, "eval_kwargs": kwargs}, pred), replies)
        expected = case.get("evaluate_airqa")
        right = (score, error) == (case["score"], case["exception"])
        right &= expected is None or whole == expected
        right &= case["kind"] != "llm_stub" or asked is None or asked == len(case["llm_calls"])
        if not right:
            different[case["id"]] = (score, error, whole)
    assert count > 250
    assert set(different) == set(EXECUTED)
    assert all(result == (0.0, None, 0.0) for result in different.values())


def test_error_prefix_of_both_wrappers(cases: list[dict[str, Any]]) -> None:
    wrappers = [case for case in cases if case["kind"] == "wrapper"]
    assert wrappers
    for case in wrappers:
        evaluator = {"eval_func": "eval_string_exact_match", "eval_kwargs": case["kwargs"]}
        if case["function"] == "evaluate_airqa":
            score, _ = _drive(score_published(evaluator, case["pred"]), [])
        else:
            question = Question(id="q", benchmark="airqa", task="airqa", text="?", gold={"evaluator": evaluator})
            rollout = Rollout(question_id="q", agent="a", model="m", seed=0, outcome="answered", answer=case["pred"])
            with pytest.raises(StopIteration) as end:
                next(grade(question, rollout))
            score = next(item.value for item in end.value.value if item.measure == "accuracy")
        assert score == case["score"], case["id"]


def test_m3sciqa_selection(cases: list[dict[str, Any]]) -> None:
    chosen = [case for case in cases if case["function"] == "eval_m3sciqa"]
    assert chosen
    for case in chosen:
        if case["exception"]:
            with pytest.raises(UPSTREAM_ERRORS) as error:
                published_selection(case["stub_reply"][0])
            assert error.type.__name__ == case["exception"], case["id"]
        else:
            assert published_selection(case["stub_reply"][0]) == case["score"], case["id"]


@pytest.mark.parametrize(
    ("method", "a", "b", "expected"),  # computed with fuzzywuzzy 0.18.0 and python-Levenshtein 0.26.0
    [
        ("partial_ratio", "Compassion", "Compassion Fade (Naming)", 100),
        ("partial_ratio", "abcd efgh", "xx abcd-efg yy", 78),
        ("partial_ratio", "", "BERT", 0),
        ("token_sort_ratio", "fuzzy wuzzy was a bear", "wuzzy fuzzy was a bear!", 100),
        ("token_sort_ratio", "café noir", "noir caf", 100),
        ("token_set_ratio", "wild textures", "Describing textures in the wild", 100),
        ("token_set_ratio", "", "x", 0),
        ("ratio", "abcdefghijklmnopqr", "abcdefghijklmnopqrst", 95),
    ],
)
def test_fuzzy_ratios_as_fuzzywuzzy(method: str, a: str, b: str, expected: int) -> None:
    assert similarity(method, a, b) == expected


def test_unknown_fuzzy_method_raises_as_upstream() -> None:
    assert "WRatio" not in METHODS
    with pytest.raises(AttributeError, match="unknown fuzz_method"):
        similarity("WRatio", "a", "b")
