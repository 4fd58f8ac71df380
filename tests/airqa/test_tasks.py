"""The judge tasks render from the grader's own requests, and both profiles read what the offline judge replies."""

from __future__ import annotations

from typing import Any

import pytest

from vivavoce.judges.lexical import LexicalJudge
from vivavoce.judges.prompts import load_task
from vivavoce.metrics.airqa.logic import JUDGED, judge_request
from vivavoce.metrics.airqa.verdict import published_selection, published_verdict
from vivavoce.metrics.verdicts import parse_verdict
from vivavoce.records import JudgeRequest

GOOD, BAD = "The hidden size is 768, in twelve layers.", "Nobody knows."
KWARGS: dict[str, Any] = {
    "question": "Which size?",
    "reference_answer": "hidden size 768",
    "candidate_reference_answers": ["none at all", "hidden size 768"],
    "scoring_points": ["hidden size 768", "twelve layers", "no bias"],
    "formulas": ["768", "twelve"],
    "count": 2,
}


def _request(function: str, answer: str) -> JudgeRequest:
    every = {**KWARGS, "scoring_points": KWARGS["scoring_points"][:2]} if "partial" not in function else KWARGS
    return judge_request(function, answer, every)


@pytest.mark.parametrize("function", JUDGED)
async def test_each_task_renders_and_is_judged_offline(function: str) -> None:
    request = _request(function, GOOD)
    task = load_task(request.task)
    assert task.verdict.kind == "boolean"
    text = "\n".join(message.content for message in task.render(request.fields))
    assert "```txt" in text
    for value in request.fields.values():
        for item in value if isinstance(value, list) else [value]:
            assert isinstance(item, bool) or str(item) in text
    for answer, right in ((GOOD, True), (BAD, False)):
        reply = await LexicalJudge().ask(_request(function, answer))
        assert reply.verdict is right
        assert published_verdict(reply.text) is right


def test_the_order_of_points_is_asked_for() -> None:
    for ignored, words in ((True, "in any order"), (False, "in the order")):
        for function in ("eval_scoring_points_with_llm", "eval_complex_math_formula_with_llm"):
            request = judge_request(function, GOOD, {**KWARGS, "ignore_order": ignored})
            assert words in load_task(request.task).render(request.fields)[0].content


async def test_m3sciqa() -> None:
    fields = {"question": "Which size?", "reference": "hidden size 768"}
    task = load_task("m3sciqa")
    for answer, grade in ((GOOD, 1.0), (BAD, 0.0), ("Its size is large.", 0.5)):
        reply = await LexicalJudge().ask(JudgeRequest(task="m3sciqa", fields={**fields, "answer": answer}))
        assert reply.verdict == {"selection": grade}
        assert published_selection(reply.text) == grade
    assert parse_verdict('{"selection": "0.5"}', task.verdict).value == {"selection": 0.5}
    assert parse_verdict('{"selection": "7"}', task.verdict).value is None
