"""The published parsing, against what the authors' own parser gave (golden/airqa/action_parse_golden.jsonl)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from vivavoce.tools.actions import SPACES
from vivavoce.tools.parse import parse_reply
from vivavoce.tools.parse_published import extract, history_published, parse_published

HYBRID = SPACES["hybrid"]


def test_every_golden_case(shared: Path) -> None:
    cases = [json.loads(line) for line in (shared / "golden/airqa/action_parse_golden.jsonl").read_text().splitlines()]
    assert len(cases) == 40
    assert {case["action_format"] for case in cases} == {"markdown", "json", "xml", "yaml"}
    for case in cases:
        reply, syntax, protocol = case["response"], case["action_format"], case["interact_protocol"]
        assert extract(reply, protocol) == (case["extracted_thought"], case["extracted_action_text"]), case["id"]
        parsed = parse_published(reply, HYBRID, syntax, protocol)
        assert bool(parsed.action) == case["parsed"] != bool(parsed.error), case["id"]
        if case["parsed"]:
            assert parsed.action == case["action_type"], case["id"]
            assert {"thought": parsed.thought, **parsed.arguments} == case["fields"], case["id"]
        assert history_published(parsed, reply, syntax, protocol) == case["history_message"], case["id"]


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("[Action]: GenerateAnswer('BERT')", ""),  # binds to the hidden thought
        ("[Action]: GenerateAnswer('a', {}, 'BERT')", "BERT"),  # the third is the first of its own
        ("[Thought]: t\n[Action]: GenerateAnswer(answer='see [Observation]: x')", None),  # cut inside the argument
    ],
)
def test_defects_are_kept(reply: str, answer: str | None) -> None:
    parsed = parse_reply(reply, HYBRID, "markdown", rules="as_published")
    assert (parsed.arguments.get("answer") if parsed.action else None) == answer


def test_nothing_is_executed(tmp_path: Path) -> None:
    target = tmp_path / "made"
    for code in (f"open({str(target)!r}, 'w')", f"__import__('pathlib').Path({str(target)!r}).touch()"):
        reply = f"GenerateAnswer(answer={code})"
        assert parse_published(reply, HYBRID, "markdown").error
    assert not target.exists()
