"""The verdict parser: every reported reply has its expected verdict, and nothing is ever guessed."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vivavoce.metrics.verdicts import VerdictSpec, parse_verdict, strip_thinking

GRADE = VerdictSpec(kind="label", labels=("C", "I", "P"))
TEN = VerdictSpec(kind="integer", low=1, high=10)
FIVE = VerdictSpec(kind="integer", low=1, high=5)
REAL = VerdictSpec(kind="number", low=1, high=10)
TRUTH = VerdictSpec(kind="boolean")
SCORE = VerdictSpec(
    kind="json",
    schema={
        "type": "object",
        "required": ["score"],
        "properties": {"score": {"type": "number", "minimum": 0, "maximum": 10}, "note": {"type": "string"}},
    },
)
LIST = VerdictSpec(kind="json", schema={"type": "array", "items": {"type": "integer"}})
SUPPORT = VerdictSpec(kind="label", labels=("supported", "not supported"))
SPECS = (GRADE, TEN, FIVE, REAL, TRUTH, SCORE, LIST, SUPPORT, VerdictSpec(kind="text"))

READ = [
    # labels: from public reports
    (GRADE, "GRADE: C. There is no reason to downgrade: insufficient grounds.", "C"),
    (GRADE, "GRADE:\u200bC", "C"),
    (GRADE, "**Answer: C**", "C"),
    (GRADE, "GRADE：C", "C"),
    (GRADE, "It could be C since the fact is there, but half is missing.\n\nP", "P"),
    (GRADE, "Rationale: a C would need both facts.\nFinal grade: P", "P"),
    (GRADE, "GRADE: C at first sight\nGRADE: C\nFinal GRADE: P", "P"),
    (GRADE, "The answer is C because it says so", "C"),
    (GRADE, "## Verdict\n\n**C**", "C"),
    (GRADE, '{"grade": "C", "why": "GRADE: P would need more"}', "C"),
    (GRADE, "Ｃ", "C"),
    (SUPPORT, "Verdict: not supported", "not supported"),
    (SUPPORT, "Supported.", "supported"),
    # numbers on a scale
    (TEN, "**Score: 9**", 9),
    (TEN, "**Score:** 9", 9),
    (TEN, "Score:\u00a09", 9),
    (TEN, "Score: 9/10", 9),
    (TEN, "Score: 8 (out of 10)", 8),
    (TEN, "Score: 9.0", 9),
    (TEN, "- Overall Quality Score: 7\n", 7),
    (TEN, '{"score": 9, "why": "Score: 3 would be too low"}', 9),
    (TEN, '```json\n{"rating": "8"}\n```', 8),
    (TEN, "1. relevant\n2. accurate\nScore: 9", 9),
    (TEN, "<think>maybe Score: 4</think>\nScore: 9", 9),
    (TEN, "a template opened this thought: Score: 4\n</think>\n\n9", 9),
    (REAL, "Overall score: 7.25", 7.25),
    (FIVE, "Feedback: Good. [RESULT] (4)", 4),
    (FIVE, "Feedback: Good. [RESULT]4", 4),
    (FIVE, "Feedback: Good. [RESULT] 4.", 4),
    (FIVE, "Feedback: x [RESULT] Score: 4", 4),
    (FIVE, "Feedback: So the Overall score is 3.", 3),
    (FIVE, "thus \\boxed{5}", 5),
    (FIVE, "[[2]]", 2),
    # booleans
    (TRUTH, "Step by step ...\n```txt\nTrue\n```", True),
    (TRUTH, "```txt False ```", False),
    (TRUTH, "```python\nx = 1\n```\nso\n```txt\nFalse\n```", False),
    (TRUTH, "The answer is **True**.", True),
    (TRUTH, "**Verdict**: Yes, it does", True),
    (TRUTH, '{"verdict": true}', True),
    (TRUTH, '{"verdict": true, "final_answer": false}', False),
    (TRUTH, "so \\frac{}{2} and x^{} hold\n```txt\nTrue\n```\nthus {} ok", True),
    # JSON
    (SCORE, '{"score": 8}', {"score": 8}),
    (SCORE, 'Sure! ```json\n{"score": 8}\n``` Hope this helps.', {"score": 8}),
    (SCORE, '{{"score": 8}}', {"score": 8}),
    (SCORE, '{"score": "8",}', {"score": 8}),
    (SCORE, "｛\"score\"：９｝", {"score": 9}),
    (SCORE, "{“score”: 9}", {"score": 9}),
    (SCORE, '{"score": 8} and again {"score": 8.0}', {"score": 8}),
    (SCORE, '{"rating": 1} {"score": 4}', {"score": 4}),
    (SCORE, 'use { and } here: {"score": 3} ok', {"score": 3}),
    (SCORE, '```json\n{"note": "``` and } end nothing", "score": 5}\n```', {"note": "``` and } end nothing", "score": 5}),
    (SCORE, '<think>{"score": 2}</think>{"score": 5}', {"score": 5}),
    (LIST, "[1, 2,]", [1, 2]),
]  # fmt: skip

UNREAD = [
    (GRADE, "GRADE: CI", "no verdict"),
    (GRADE, "GRADE: C\nGRADE: P", "two different"),
    (GRADE, "GRADE: C. GRADE: P", "two different"),
    (GRADE, "Grade: C or P", "two different"),
    (GRADE, "The answer is C-level", "no verdict"),
    (GRADE, "I think this one is correct in part.", "no verdict"),
    (GRADE, "downgrade: I", "no verdict"),
    (SUPPORT, "Verdict: unsupported", "no verdict"),
    (TEN, "Score: 11", "off the scale"),
    (TEN, "Score: 0", "off the scale"),
    (TEN, "Score: 9/100", "off the scale"),
    (TEN, "Score: 7-8", "two different"),
    (TEN, "Score: 7\nScore: 12", "off the scale"),
    (TEN, "Score: 4.5", "whole number"),
    (TEN, "I'd say 9 of the points are there", "no verdict"),
    (TEN, "Relevance score: 8", "no verdict"),
    (TEN, "A score of 5 would need more, so it gets less", "no verdict"),
    (TEN, '{"justification": "fine"}', "no verdict field"),
    (FIVE, "[RESULT] 2 then [RESULT] 5", "two different"),
    (FIVE, "Feedback: x [RESULT] 6", "off the scale"),
    (FIVE, "Feedback: nothing here", "no verdict"),
    (TRUTH, "```txt\nTrue", "truncated"),
    (TRUTH, "```txt\nTrue\n```\n```txt\nFalse\n```", "two different"),
    (TRUTH, "Answer: True or False?", "two different"),
    (TRUTH, "Answer: no reason to doubt it", "no verdict"),
    (TRUTH, "<think>True", "truncated"),
    (TRUTH, "  \u200b\n", "no verdict"),
    (SCORE, "", "empty"),
    (SCORE, '{"score": 8', "truncated"),
    (SCORE, '{"score": 8} {"score": 9}', "different JSON verdicts"),
    (SCORE, '{"score": 8} {"score": 11}', "off the scale"),
    (SCORE, '{"score": 8, "score": 9}', "twice"),
    (SCORE, '{"rating": 8}', "missing field score"),
    (SCORE, '{"score": null}', "score: None is not of type"),
    (SCORE, '{"score": true}', "score: True is not of type"),
    (SCORE, '{"score": 11}', "off the scale"),
    (SCORE, '{"score": NaN}', "broken JSON"),
    (SCORE, '{"note": {"score": 8}, "x', "truncated"),
    (SCORE, '[{"rating": 8}]', "missing field score"),
    (SCORE, "8", "no JSON"),
    (LIST, "[1, 2", "truncated"),
]  # fmt: skip


@pytest.mark.parametrize(("spec", "reply", "value"), READ)
def test_verdict_is_read(spec: VerdictSpec, reply: str, value: object) -> None:
    verdict = parse_verdict(reply, spec)
    assert (verdict.value, verdict.error) == (value, "")
    assert type(verdict.value) is type(value)


@pytest.mark.parametrize(("spec", "reply", "reason"), UNREAD)
def test_nothing_is_guessed(spec: VerdictSpec, reply: str, reason: str) -> None:
    verdict = parse_verdict(reply, spec)
    assert verdict.value is None
    assert reason in verdict.error


@given(st.text(max_size=300), st.sampled_from(SPECS))
def test_any_text_gives_a_verdict_or_a_reason(text: str, spec: VerdictSpec) -> None:
    verdict = parse_verdict(text, spec)
    assert (verdict.value is None) == bool(verdict.error)


PIECES = st.sampled_from(
    ["{", "}", "[", "]", '"', "\\", ":", ",", "```", "\n", "score", "Answer:", "C", "P", "9", "11", "True", "</think>"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=40), st.sampled_from(SPECS))
def test_verdict_like_garbage_never_raises_and_keeps_to_the_scale(pieces: list[str], spec: VerdictSpec) -> None:
    verdict = parse_verdict("".join(pieces), spec)
    assert (verdict.value is None) == bool(verdict.error)
    if spec.kind in {"integer", "number"} and verdict.value is not None:
        assert spec.low <= verdict.value <= spec.high
    if spec.kind == "label" and verdict.value is not None:
        assert verdict.value in spec.labels


@given(st.integers(0, 10), st.text(max_size=40), st.text(alphabet="abc .\n", max_size=40))
def test_json_is_found_in_prose_and_its_strings_are_kept(score: int, note: str, prose: str) -> None:
    wanted = {"score": score, "note": note}
    verdict = parse_verdict(f"{prose}\n{json.dumps(wanted)}\n{prose}", SCORE)
    # Invisible characters of direction and width are taken out of a reply; json.dumps escapes them, so strings keep theirs.
    assert verdict.value == wanted


@given(st.integers(0, 10), st.integers(1, 11))
def test_cut_json_is_truncated(score: int, kept: int) -> None:
    whole = json.dumps({"score": score})
    verdict = parse_verdict(whole[: min(kept + 1, len(whole) - 1)], SCORE)
    assert verdict.value is None


@pytest.mark.parametrize(
    "text",
    ["\n" * 400_000, "{" * 400_000, "- " * 200_000, "<think>" * 50_000, "answer: " * 50_000, '{"' * 200_000, "[[1]]" * 80_000,
     '{"a":' * 80_000 + "1" + "}" * 80_000, "```" * 130_000, "9" * 400_000],
)  # fmt: skip
def test_hostile_replies_cost_little(text: str) -> None:
    started = time.perf_counter()
    for spec in (GRADE, TEN, SCORE):
        parse_verdict(text, spec)
    assert time.perf_counter() - started < 15


def test_overlong_reply_is_an_error() -> None:
    assert "longer" in parse_verdict("x" * 400_001, VerdictSpec(kind="text")).error


def test_thinking_is_stripped_nested_and_repeated() -> None:
    assert strip_thinking("<think>a<think>b</think>c</think>d<reasoning>e</reasoning>f") == ("df", False)


@pytest.mark.parametrize(
    "fields",
    [{"kind": "label", "labels": ("A", "a")}, {"kind": "integer", "low": 5, "high": 5}, {"kind": "json", "schema": {}}],
)  # fmt: skip
def test_senseless_specs_are_refused(fields: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="needs"):
        VerdictSpec(**fields)
