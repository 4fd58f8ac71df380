"""Every way in which the scripted server misbehaves, once through the rollout step of a workflow: each ends as it should."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytestmark = pytest.mark.workflow

ANSWERED = ["429-seconds", "429-date", "429-bare", "429-reset", "429-ms", "500-then-fine", "503-seconds", "hang-once", "reset"]
ANSWERED += ["half", "html", "wrong-json", "no-choices", "error-200", "no-usage", "slow", "thinking", "length"]
REASONS = {  # what a reader of the rollouts file is told
    "429-always": "the server said 429",
    "429-tomorrow": "it asked to wait 86400 s",
    "quota": "exceeded your current quota",
    "500-always": "the server said 500",
    "hang": "no reply within 1.5 s",
    "reset-always": "the connection broke in the middle of the reply",
    "half-always": "no chat completion",
    "html-200-always": "no chat completion",
    "wrong-json-always": "no chat completion",
    "no-choices-always": "no choices",
    "400": "the server said 400",
    "401": "check the key",
    "403": "the key may not use this model",
    "404": "check base_url",
    "overflow": "maximum context length",
    "redirect": "put that into base_url",
    "echo-key": "the server said 401",
}


def test_each_ends_as_it_should(project: Any, examiner: Any) -> None:
    code, said = project.run(experiment="scripts")
    assert code == 0, said
    path = project.folder / "results/rollouts/exam_scripts/question_only/impatient/s0.jsonl"
    rollouts = {line["question_id"]: line for line in map(json.loads, path.read_text().splitlines())}
    known = (project.folder / "data/scripts.jsonl").read_text().splitlines()
    assert len(rollouts) == len(known)
    ended: dict[str, list[str]] = {}
    for name, rollout in rollouts.items():
        ended.setdefault(rollout["outcome"], []).append(name)
    assert sorted(ended["answered"]) == sorted(ANSWERED)
    assert sorted(ended["refused"]) == ["filter", "filter-400", "refusal"]
    assert ended["invalid"] == ["broken-arguments"], "a tool call where none was offered is no answer"
    assert sorted(ended["error"]) == sorted(REASONS)
    for name, reason in REASONS.items():
        assert reason in rollouts[name]["reason"], name
    assert rollouts["no-usage"]["usage"]["cost"] is None, "not 0"
    assert rollouts["length"]["notes"] == ["the reply was cut at max_tokens"]
    assert "question(s) ended in an error" in said
    assert "retry=errors" in said

    table = project.results()["scripts/tables/scripts.md"].decode()
    assert f"{len(REASONS)} error" in table
    assert "3 refused" in table
    assert len(project.stored()) == len(ANSWERED), "the cut reply is not kept, the one with a broken call is"
    assert len(examiner.asked()) == len(known)


def test_a_tool_call_with_broken_arguments_is_told_to_the_model(project: Any, examiner: Any) -> None:
    code, said = project.run(experiment="scripts_native")
    assert code == 0, said
    path = project.folder / "results/rollouts/exam_scripts/exam_native/impatient_native/s0.jsonl"
    rollouts = {line["question_id"]: line for line in map(json.loads, path.read_text().splitlines())}
    broken = rollouts["broken-arguments"]
    assert broken["outcome"] == "limit"
    assert len(broken["turns"]) == 3
    assert all(turn["error"] for turn in broken["turns"])
    assert rollouts["hang"]["outcome"] == "error"
    assert rollouts["refusal"]["outcome"] == "refused"
    assert rollouts["half"]["outcome"] == "answered"
