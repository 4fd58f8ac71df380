"""What every chat model takes and gives: the one interface between agents, judges and servers."""

from __future__ import annotations

from typing import Any, Literal, Protocol

import msgspec

from vivavoce.records import Usage


class ToolCall(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A native tool call; `arguments` is the raw JSON text, which may be broken."""

    id: str
    name: str
    arguments: str


class Image(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An image sent with a message: base64 of the bytes."""

    base64: str
    media_type: str = "image/png"


class Message(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One message of a conversation."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str = ""
    images: tuple[Image, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""


class ChatRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One call. Sampling parameters belong to the model's configuration; `parameters` overrides them for this call.

    `tools` are JSON-schema function tools (OpenAI's form), `response_format` a JSON schema.
    `fields` is what the prompt was rendered from (question, contexts, actions). It never leaves the process and is
    no part of the call's key: the offline baselines read it instead of parsing prose.
    """

    messages: tuple[Message, ...]
    tools: tuple[dict[str, Any], ...] = ()
    response_format: dict[str, Any] | None = None
    parameters: dict[str, Any] = {}
    fields: dict[str, Any] = {}


class ChatReply(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One reply: text without its thinking block, which stands in `thinking`. `key` names the call in the store."""

    text: str
    thinking: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str = "stop"  # stop, length, tool_calls
    usage: Usage = Usage()
    key: str = ""


class ChatModel(Protocol):
    """A model that is ready to be called, from many tasks at once.

    `chat` raises `ModelError` when no usable reply came (retries exhausted, context overflow, deadline),
    `RefusedError` when the model or its filter declined, and `BudgetError` when the call may not be paid for.
    A reply cut at max_tokens comes back with finish_reason `length`: the caller decides what it is worth.
    """

    @property
    def name(self) -> str: ...

    @property
    def native_tools(self) -> bool:
        """Whether `tools` may be sent; otherwise agents use text actions."""
        ...

    async def chat(self, request: ChatRequest, *, sample: int = 0) -> ChatReply: ...
