"""What a call is stored under: every ingredient changes the key, and nothing else does."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vivavoce.config.model import ModelConfig
from vivavoce.errors import ModelError
from vivavoce.models.chat import ChatRequest, Image, Message, ToolCall
from vivavoce.models.wire import call_key, prepare

TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}}
PICTURE = Image(base64=base64.b64encode(b"one").decode())
BASE: dict[str, Any] = {
    "base_url": "http://h/v1", "model": "m", "temperature": 0.5, "top_p": 0.9, "max_tokens": 10, "seed": 1, "stop": ["\n"],
    "extra_body": {"top_k": 5}, "images": True, "response_format": "json_schema", "tool_calls": "native",
}  # fmt: skip


def config(**changes: Any) -> ModelConfig:
    return ModelConfig.parse("m", BASE | changes)


def request(**changes: Any) -> ChatRequest:
    messages = (Message(role="system", content="s"), Message(role="user", content="u", images=(PICTURE,)))
    return ChatRequest(**{"messages": messages, "tools": (TOOL,), "response_format": SCHEMA, **changes})


BEFORE = call_key(config(), request(), 0)


@pytest.mark.parametrize(
    "change",
    [
        {"provider": "vivavoce.models.http:HttpTransport"},
        {"base_url": "http://other/v1"},
        {"model": "m2"},
        {"temperature": 0.6},
        {"temperature": None},
        {"top_p": 0.8},
        {"max_tokens": 11},
        {"seed": 2},
        {"seed": None},
        {"stop": ["\n", "."]},
        {"extra_body": {"top_k": 6}},
        {"extra_body": {"top_k": 5, "min_p": 0.1}},
        {"response_format": "json_object"},
        {"response_format": "none"},
    ],
    ids=str,
)
def test_each_ingredient_of_the_configuration_makes_another_call(change: dict[str, Any]) -> None:
    assert call_key(config(**change), request(), 0) != BEFORE


@pytest.mark.parametrize(
    "change",
    [
        {"messages": (Message(role="system", content="s"), Message(role="user", content="v", images=(PICTURE,)))},
        {"messages": (Message(role="user", content="s"), Message(role="user", content="u", images=(PICTURE,)))},
        {"messages": (Message(role="system", content="s"), Message(role="user", content="u"))},
        {"messages": (Message(role="system", content="s"), Message(role="user", content="u", images=(Image(base64="dHdv"),)))},
        {"messages": (Message(role="system", content="su"), Message(role="user", content="", images=(PICTURE,)))},
        {"tools": ()},
        {"tools": (TOOL, TOOL)},
        {"response_format": None},
        {"response_format": SCHEMA | {"required": ["a"]}},
        {"parameters": {"temperature": 0.7}},
        {"parameters": {"frequency_penalty": 1}},
    ],
    ids=str,
)
def test_each_ingredient_of_the_request_makes_another_call(change: dict[str, Any]) -> None:
    assert call_key(config(), request(**change), 0) != BEFORE


def test_tool_calls_and_results_are_ingredients() -> None:
    def conversation(arguments: str, result: str, name: str = "f") -> str:
        call = ToolCall(id="1", name=name, arguments=arguments)
        turns = (Message(role="assistant", tool_calls=(call,)), Message(role="tool", content=result, tool_call_id="1"))
        return call_key(config(), ChatRequest(messages=turns))

    keys = {conversation("{}", "r"), conversation('{"a":1}', "r"), conversation("{}", "s"), conversation("{}", "r", "g")}
    assert len(keys) == 4


def test_the_sample_number_is_an_ingredient_with_and_without_a_seed() -> None:
    assert len({call_key(config(), request(), sample) for sample in range(5)}) == 5
    assert len({call_key(config(seed=None), request(), sample) for sample in range(5)}) == 5
    assert [json.loads(prepare(config(), request(), sample).body)["seed"] for sample in (0, 3)] == [1, 4]


def test_what_does_not_reach_the_server_is_no_ingredient() -> None:
    other = config(concurrency=3, timeout=7, retries=1, price={"prompt": 1, "completion": 1}, thinking="tag", api_key_env="K")
    assert call_key(other, request(fields={"question": "x"}), 0) == BEFORE
    assert call_key(ModelConfig.parse("renamed", BASE), request(), 0) == BEFORE
    assert call_key(config(base_url="http://h/v1/"), request(), 0) == BEFORE


def test_equal_numbers_and_orders_give_equal_keys() -> None:
    a = config(temperature=1.0, extra_body={"a": 1.0, "b": {"x": 1, "y": 2}})
    b = config(temperature=1, extra_body={"b": {"y": 2, "x": 1}, "a": 1})
    assert call_key(a, request()) == call_key(b, request())


@given(st.lists(st.tuples(st.sampled_from(["user", "assistant"]), st.text(max_size=12)), min_size=1, max_size=3), st.data())
def test_different_conversations_never_share_a_key(turns: list[tuple[Any, str]], data: st.DataObject) -> None:
    other = data.draw(st.lists(st.tuples(st.sampled_from(["user", "assistant"]), st.text(max_size=12)), min_size=1, max_size=3))

    def key(conversation: list[tuple[Any, str]]) -> str:
        return call_key(config(), ChatRequest(messages=tuple(Message(role=role, content=text) for role, text in conversation)))

    assert (key(turns) == key(other)) == (turns == other)


def test_lone_surrogates_do_not_crash() -> None:
    assert prepare(config(), ChatRequest(messages=(Message(role="user", content="a\ud800b"),)), 0).body.decode()


@pytest.mark.parametrize(
    ("changes", "sent", "says"),
    [
        ({"images": False}, {}, "images: true"),
        ({"tool_calls": "text"}, {}, "takes no tools"),
        ({}, {"parameters": {"stream": True}}, "may not set stream"),
        ({}, {"messages": (Message(role="user", images=(Image(base64="no base64!"),)),)}, "not valid base64"),
    ],
)
def test_what_a_model_cannot_take_is_refused_with_the_reason(changes: dict[str, Any], sent: dict[str, Any], says: str) -> None:
    with pytest.raises(ModelError, match=says):
        call_key(config(**changes), request(**sent))
