"""The LLM judge against a scripted model: one re-ask, honest errors, nothing sent for an empty answer."""

from __future__ import annotations

import json

import pytest

from vivavoce.errors import BudgetError, ConfigError, ModelError, RefusedError
from vivavoce.judges.llm import LLMJudge
from vivavoce.models.chat import ChatReply, ChatRequest
from vivavoce.records import JudgeRequest, Usage

CRITERION = JudgeRequest(task="rubric_criterion", fields={"question": "q", "answer": "an answer", "criterion": "c"})
ENTAILMENT = JudgeRequest(task="entailment", fields={"passage": "p", "claim": "c"})
REFERENCE = JudgeRequest(
    task="prometheus",
    fields={"instruction": "i", "question": "q", "answer": "a", "reference": "r", "criterion": "c", "descriptions": ["d"] * 5},
)  # fmt: skip


class Scripted:
    """A chat model that plays replies; an exception among them is raised."""

    name = "scripted"
    native_tools = False

    def __init__(self, *script: str | ChatReply | Exception) -> None:
        self.script = list(script)
        self.requests: list[ChatRequest] = []

    async def chat(self, request: ChatRequest, *, sample: int = 0) -> ChatReply:
        self.requests.append(request)
        item = self.script.pop(0)
        if isinstance(item, Exception):
            raise item
        key = f"call{len(self.requests)}"
        return item if isinstance(item, ChatReply) else ChatReply(text=item, key=key, usage=Usage(calls=1, prompt_tokens=10))


async def test_good_reply_takes_one_call() -> None:
    model = Scripted('{"score": 7}')
    reply = await LLMJudge(model).ask(CRITERION)
    assert (reply.verdict, reply.error, reply.text, reply.calls) == ({"score": 7}, "", '{"score": 7}', ("call1",))
    assert model.requests[0].response_format is not None
    assert model.requests[0].response_format["required"] == ["score"]


@pytest.mark.parametrize(
    ("first", "shown"),
    [
        ('{"score": 7} {"score": 8}', "2 different JSON verdicts"),
        ('{"score": 70}', "off the scale"),
        ('{"rating": 7}', "missing field score"),
        ("no idea", "no JSON"),
        ("", "empty reply"),
        (ChatReply(text='{"score": 7', finish_reason="length"), "truncated"),
        (ChatReply(text='{"score": 7}', finish_reason="length"), "truncated"),
    ],
)
async def test_unusable_reply_is_asked_again_once_with_the_error_shown(first: str | ChatReply, shown: str) -> None:
    model = Scripted(first, '{"score": 6}')
    reply = await LLMJudge(model).ask(CRITERION)
    assert reply.verdict == {"score": 6}
    assert len(model.requests) == 2
    assert shown in model.requests[1].messages[-1].content
    assert model.requests[0].messages == model.requests[1].messages[:2]


async def test_second_unusable_reply_leaves_the_error_and_counts_both_calls() -> None:
    model = Scripted("no idea", '{"score": 11}')
    reply = await LLMJudge(model).ask(CRITERION)
    assert reply.verdict is None
    assert "off the scale" in reply.error
    assert reply.text == '{"score": 11}'
    assert reply.calls == ("call1", "call2")
    assert (reply.usage.calls, reply.usage.prompt_tokens) == (2, 20)


@pytest.mark.parametrize("answer", ["", "  \n", None])
async def test_empty_answer_is_never_sent(answer: str | None) -> None:
    model = Scripted()
    reply = await LLMJudge(model).ask(JudgeRequest(task=CRITERION.task, fields=CRITERION.fields | {"answer": answer}))
    assert "empty answer" in reply.error
    assert model.requests == []


@pytest.mark.parametrize(
    ("error", "text"), [(ModelError("no server"), "judge down: no server"), (RefusedError("filter"), "judge refused: filter")]
)
async def test_failures_of_the_model_are_named(error: Exception, text: str) -> None:
    assert (await LLMJudge(Scripted(error)).ask(CRITERION)).error == text


async def test_budget_stops_the_run() -> None:
    with pytest.raises(BudgetError):
        await LLMJudge(Scripted(BudgetError("spent"))).ask(CRITERION)


async def test_constrained_verdicts_are_written_in_the_prompts_form() -> None:
    model = Scripted('{"verdict": 4}', '{"verdict": "contradicted"}')
    judge = LLMJudge(model, {"constrain": True, "parameters": {"temperature": 0.0}}, name="small")
    reply = await judge.ask(REFERENCE)
    assert reply.verdict == 4
    assert reply.text.endswith("[RESULT] 4")
    assert (await judge.ask(ENTAILMENT)).verdict == "contradicted"
    schema = model.requests[1].response_format
    assert schema is not None
    assert schema["properties"]["verdict"]["enum"] == ["supported", "contradicted", "unrelated"]
    assert json.dumps(model.requests[0].parameters) == '{"temperature": 0.0}'


async def test_pinned_version_that_does_not_exist_stops() -> None:
    with pytest.raises(ConfigError, match="version 99"):
        await LLMJudge(Scripted(), versions={"rubric_criterion": 99}).ask(CRITERION)


def test_mistakes_in_the_configuration_are_named() -> None:
    with pytest.raises(ConfigError, match="conf/model"):
        LLMJudge(None, name="j")
    with pytest.raises(ConfigError, match="temprature"):
        LLMJudge(Scripted(), {"temprature": 0})
