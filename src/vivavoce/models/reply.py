"""A response in the chat-completions form, read as a reply: its text, thinking, tool calls, and what it cost."""

from __future__ import annotations

from typing import Any

import msgspec

from vivavoce.config.model import ModelConfig
from vivavoce.errors import RefusedError
from vivavoce.files import canonical
from vivavoce.models.chat import ChatReply, ToolCall
from vivavoce.models.failures import CallError
from vivavoce.records import Usage

OPEN, CLOSE = "<think>", "</think>"


class _Function(msgspec.Struct):
    name: str = ""
    arguments: str | dict[str, Any] | None = ""


class _ToolCall(msgspec.Struct):
    function: _Function
    id: str | None = None


class _Answer(msgspec.Struct):
    content: str | list[dict[str, Any]] | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    refusal: str | None = None
    tool_calls: list[_ToolCall] | None = None


class _Choice(msgspec.Struct):
    message: _Answer
    finish_reason: str | None = None


class _Counts(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost: float | None = None  # OpenRouter


class _Response(msgspec.Struct):
    choices: list[_Choice]
    usage: _Counts | None = None


_decode = msgspec.json.Decoder(_Response).decode


def read_reply(config: ModelConfig, raw: bytes, key: str, seconds: float) -> ChatReply:
    """Read a response. CallError if it is none (half a body, HTML, no choices); RefusedError if the model declined.

    Where the server counts no tokens they are 0 and the cost is None, as it is where the price is unknown.
    """
    try:
        response = _decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        start = raw[:120].decode("utf-8", "replace")
        raise CallError(f"the server's reply is no chat completion ({error}): {start!r}", 200) from None
    if not response.choices:
        raise CallError("the server's reply has no choices", 200)
    choice = response.choices[0]
    answer, finish = choice.message, choice.finish_reason or "stop"
    if answer.refusal:
        raise RefusedError(f"the model refused: {answer.refusal[:300]}")
    if finish == "content_filter":
        raise RefusedError("the server's content filter stopped the reply")
    if finish == "error":
        raise CallError("the server broke the reply off (finish_reason: error)", 200)
    calls = tuple(
        ToolCall(id=call.id or f"call_{number}", name=call.function.name, arguments=_arguments(call.function.arguments))
        for number, call in enumerate(answer.tool_calls or ())
    )
    text = answer.content or ""
    if isinstance(text, list):
        text = "".join(str(part.get("text", "")) for part in text)
    thinking = answer.reasoning_content or answer.reasoning or ""
    if config.thinking == "tag":
        thought, text = split_thinking(text)
        thinking = "\n".join(filter(None, (thinking, thought)))
    if calls and finish != "length":
        finish = "tool_calls"
    elif finish != "length":
        finish = "stop"
    return ChatReply(
        text=text,
        thinking=thinking,
        tool_calls=calls,
        finish_reason=finish,
        usage=_usage(config, response.usage, seconds),
        key=key,
    )


def _arguments(value: str | dict[str, Any] | None) -> str:
    return canonical(value) if isinstance(value, dict) else value or ""  # some servers send the object itself


def _usage(config: ModelConfig, counts: _Counts | None, seconds: float) -> Usage:
    if counts is None or counts.prompt_tokens is None or counts.completion_tokens is None:
        return Usage(calls=1, seconds=seconds, cost=None)
    cost = config.price.of(counts.prompt_tokens, counts.completion_tokens) if config.price else counts.cost
    return Usage(
        calls=1,
        prompt_tokens=counts.prompt_tokens,
        completion_tokens=counts.completion_tokens,
        seconds=seconds,
        cost=cost,
    )


def split_thinking(text: str) -> tuple[str, str]:
    """(thinking, answer): the leading <think> block apart from the rest.

    The opening tag may be missing (chat templates of DeepSeek-R1 put it into the prompt), and so may the closing one
    (a reply cut in mid-thought): then there is no answer.
    """
    start = text.lstrip()
    if start.startswith(OPEN):
        thought, _, rest = start[len(OPEN) :].partition(CLOSE)
    elif CLOSE in text and OPEN not in text.partition(CLOSE)[0]:
        thought, _, rest = text.partition(CLOSE)
    else:
        return "", text
    return thought.strip(), rest.lstrip()
