"""The shipped calls belong to the current prompts, all of them, and a prompt that changed says what to do."""

from __future__ import annotations

import gzip
from typing import Any

import msgspec
import pytest

from vivavoce.agents.prompts import Prompt, prompt
from vivavoce.models.exchange import Line, read_lines
from vivavoce.models.failures import OfflineMissError

MODEL = "smollm2"


async def test_every_call_is_recorded_and_every_recorded_call_is_needed(replay: Any) -> None:
    jobs = [job for job in replay.plan.jobs if job.model == MODEL]
    judged = [(job, judge) for job, judge in replay.plan.judged if replay.config.judge[judge].model == MODEL]
    assert {job.agent for job in jobs} == {"question_only", "classic_rag_small", "text_agent_small"}
    assert {job.model for job, _ in judged} == {MODEL, "extractive"}
    for job in jobs:
        rollouts = await replay.rollouts(job)
        assert not [item.question_id for item in rollouts if item.outcome == "error"], job
    for job, judge in judged:
        down = [item.reason for item in await replay.judgements(job, judge) if "judge down" in item.reason]
        assert not down, (job, judge)
    recorded = {line.key for line in read_lines(replay.recording) if isinstance(line, Line)}
    assert replay.keys == recorded, "recorded/ holds other calls than the demonstration makes: run `make record`"


async def test_a_changed_prompt_of_an_agent_is_a_miss_that_says_what_to_do(
    replay: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Polite(Prompt):
        def render(self, **values: Any) -> Any:
            system, user = self._old.render(**values)
            return system, msgspec.structs.replace(user, content=f"Please. {user.content}")

    old = prompt("one_call")
    changed = Polite(old.name, old.version, None, None)  # type: ignore[arg-type]
    changed._old = old  # type: ignore[attr-defined]
    monkeypatch.setattr("vivavoce.agents.one_call.prompt", lambda name: changed)
    question = replay.questions("specimen_scifact")[0]
    from vivavoce.agents.base import Seat

    async with replay.model(MODEL) as model:
        with pytest.raises(OfflineMissError, match="make record"):
            await replay.agent("question_only").answer(question.unseen(), Seat(model=model, corpus=None, seed=0))


async def test_a_changed_prompt_of_a_judge_is_a_miss_that_says_what_to_do(replay: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from vivavoce.judges import llm
    from vivavoce.judges.prompts import load_task

    def stricter(name: str, version: int | None = None) -> Any:
        task = load_task(name, version)
        return msgspec.structs.replace(task, user=f"Be strict.\n{task.user}")

    monkeypatch.setattr(llm, "load_task", stricter)
    job = next(job for job, judge in replay.plan.judged if judge == MODEL and job.model == MODEL)
    reasons = [item.reason for item in await replay.judgements(job, MODEL) if item.status == "unscored"]
    assert reasons
    assert all("make record" in reason for reason in reasons)


def test_the_recording_names_no_place_and_is_small(replay: Any) -> None:
    data = replay.recording.read_bytes()
    assert len(data) < 3_000_000
    assert data[4:8] == bytes(4), "the gzip header holds a time"
    text = gzip.decompress(data).decode()
    assert not [word for word in ("/tmp/", "/home/", "/root/", "/work/", '.gguf"}') if word in text.replace("smollm2:", "")]
    keys = [line.key for line in read_lines(replay.recording) if isinstance(line, Line)]
    assert keys == sorted(set(keys))
