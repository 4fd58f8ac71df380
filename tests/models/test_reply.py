"""Reading replies: thinking blocks, tool calls, usage, and shapes that servers really send."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vivavoce.config.model import ModelConfig
from vivavoce.errors import ModelError, RefusedError
from vivavoce.models.chat import ChatReply
from vivavoce.models.reply import read_reply, split_thinking

PLAIN = ModelConfig.parse("m", {"base_url": "http://h/v1", "model": "m"})
THINKER = ModelConfig.parse("m", {"base_url": "http://h/v1", "model": "m", "thinking": "tag"})


def read(message: dict[str, Any], finish: str | None = "stop", config: ModelConfig = PLAIN, **more: Any) -> ChatReply:
    return read_reply(
        config, json.dumps({"choices": [{"message": message, "finish_reason": finish}], **more}).encode(), "k", 0.5
    )


@pytest.mark.parametrize(
    ("text", "thinking", "answer"),
    [
        ("<think>\na b\n</think>\n\nYes", "a b", "Yes"),
        ("\n <think>a</think>Yes", "a", "Yes"),
        ("a b</think>\nYes", "a b", "Yes"),  # the template put the opening tag into the prompt
        ("<think>never ends", "never ends", ""),
        ("<think></think>Yes", "", "Yes"),
        ("Yes", "", "Yes"),
        ("Use <think> tags, then </think>.", "", "Use <think> tags, then </think>."),
        ("<think>a</think>Say </think> twice", "a", "Say </think> twice"),
    ],
)
def test_thinking_is_split_off(text: str, thinking: str, answer: str) -> None:
    assert split_thinking(text) == (thinking, answer)


def test_thinking_stays_where_the_configuration_does_not_ask_for_the_split() -> None:
    assert read({"content": "<think>a</think>b"}).text == "<think>a</think>b"
    assert read({"content": "<think>a</think>b"}, config=THINKER).text == "b"


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_thinking_in_its_own_field_is_kept(field: str) -> None:
    reply = read({"content": "b", field: "a"})
    assert (reply.thinking, reply.text) == ("a", "b")


def test_odd_shapes_of_real_servers() -> None:
    assert read({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}).text == "ab"
    assert read({"content": None}).text == ""
    assert read({"content": "x"}, None).finish_reason == "stop"
    assert read({"content": "x"}, "eos").finish_reason == "stop"
    assert read({"content": "x"}, "length").finish_reason == "length"
    called = read({"tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}]}, "stop")
    assert (called.finish_reason, called.tool_calls[0].arguments, called.tool_calls[0].id) == (
        "tool_calls",
        '{"a":1}',
        "call_0",
    )


def test_usage_is_counted_priced_or_unknown() -> None:
    priced = ModelConfig.parse("m", {"base_url": "http://h/v1", "model": "m", "price": {"prompt": 1, "completion": 3}})
    counts = {"prompt_tokens": 1_000_000, "completion_tokens": 2_000_000}
    assert read({"content": "x"}, config=priced, usage=counts).usage.cost == 7.0
    assert read({"content": "x"}, usage=counts).usage.cost is None
    assert read({"content": "x"}, usage=counts | {"cost": 0.25}).usage.cost == 0.25, "what the server says it took"
    for missing in (None, {}, {"prompt_tokens": 3}):
        usage = read({"content": "x"}, config=priced, usage=missing).usage
        assert (usage.calls, usage.cost) == (1, None)


@pytest.mark.parametrize(
    ("message", "finish"), [({"content": "", "refusal": "no"}, "stop"), ({"content": "half an ans"}, "content_filter")]
)
def test_refusals(message: dict[str, Any], finish: str) -> None:
    with pytest.raises(RefusedError):
        read(message, finish)


SHAPES = st.recursive(
    st.none() | st.integers() | st.text(max_size=5),
    lambda part: (
        st.lists(part, max_size=3)
        | st.dictionaries(
            st.sampled_from(["choices", "message", "content", "usage", "tool_calls", "function"]), part, max_size=3
        )
    ),
    max_leaves=12,
).map(lambda value: json.dumps(value).encode())


@given(st.binary(max_size=60) | SHAPES)
def test_garbage_is_a_model_error_never_a_crash(raw: bytes) -> None:
    with contextlib.suppress(ModelError):
        assert isinstance(read_reply(THINKER, raw, "k", 0.0), ChatReply)
