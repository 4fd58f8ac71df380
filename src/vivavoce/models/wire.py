"""A request in the chat-completions form: the body that is sent, and the key that the reply is stored under.

The key is the SHA-256 of one canonical JSON object (sorted keys, 1.0 is 1) of provider, base URL, sample number and the
very body that is sent, images by their digest: what is not in the key cannot have reached the server.
"""

from __future__ import annotations

import base64
import binascii
import functools
import hashlib
from collections.abc import Callable
from typing import Any

import msgspec

from vivavoce.config.model import RESERVED, ModelConfig
from vivavoce.errors import ModelError
from vivavoce.files import canonical
from vivavoce.models.chat import ChatRequest, Image, Message


class Call(msgspec.Struct, frozen=True):
    """A request ready to go: `record` is the canonical JSON that `key` is the digest of, `body` what the server gets."""

    key: str
    record: bytes
    body: bytes
    images: dict[str, str]  # digest -> base64


def prepare(config: ModelConfig, request: ChatRequest, sample: int) -> Call:
    """Build the body and the key of a call. ModelError where the model cannot take the request at all."""
    if request.tools and config.tool_calls != "native":
        raise ModelError(f"{config.name} takes no tools (tool_calls: {config.tool_calls}): use text actions")
    images: dict[str, str] = {}

    def by_digest(image: Image) -> str:
        name = _digest(image, config.name)
        images[name] = image.base64
        return name

    if any(message.images for message in request.messages):
        if not config.images:
            raise ModelError(f"{config.name} takes no images: set `images: true` in its file if it can")
        kept = _encode(_body(config, request, sample, by_digest))
        body = _encode(_body(config, request, sample, lambda image: f"data:{image.media_type};base64,{image.base64}"))
    else:
        kept = body = _encode(_body(config, request, sample, by_digest))
    place = config.base_url or f"{config.gguf}#{config.gguf_sha256}"  # a local server's port is no part of the call
    head, tail = _frame(place, config.provider)
    record = b"%b%b%b%d}" % (head, kept, tail, sample)
    return Call(hashlib.sha256(record).hexdigest(), record, body, images)


def call_key(config: ModelConfig, request: ChatRequest, sample: int = 0) -> str:
    """The key under which the reply to this call is stored."""
    return prepare(config, request, sample).key


@functools.lru_cache(maxsize=64)
def _frame(place: str, provider: str) -> tuple[bytes, bytes]:
    return f'{{"base_url":{canonical(place)},"body":'.encode(), f',"provider":{canonical(provider)},"sample":'.encode()


def _encode(body: dict[str, Any]) -> bytes:
    # A lone surrogate (a defect of PDF extraction) has no UTF-8 form; it becomes "?" as servers would refuse it.
    return canonical(body).encode("utf-8", "replace")


def _digest(image: Image, model: str) -> str:
    try:
        data = base64.b64decode(image.base64, validate=True)
    except binascii.Error as error:
        raise ModelError(f"{model}: an image is not valid base64: {error}") from None
    return f"{image.media_type};sha256:{hashlib.sha256(data).hexdigest()}"


def _body(config: ModelConfig, request: ChatRequest, sample: int, show: Callable[[Image], str]) -> dict[str, Any]:
    body: dict[str, Any] = {
        **config.extra_body,
        "temperature": config.temperature,
        "top_p": config.top_p,
        "max_tokens": config.max_tokens,
        "seed": config.seed,
        "stop": list(config.stop) or None,
    }
    if wrong := RESERVED & set(request.parameters):
        raise ModelError(f"{config.name}: parameters may not set {', '.join(sorted(wrong))}")
    body |= request.parameters
    if body["seed"] is not None:
        body["seed"] += sample  # else a server that honours the seed would give five equal samples
    body = {name: value for name, value in body.items() if value is not None}
    body["model"] = config.model
    body["messages"] = [_message(message, show) for message in request.messages]
    if request.tools:
        body["tools"] = list(request.tools)
    if request.response_format is not None and config.response_format == "json_object":
        body["response_format"] = {"type": "json_object"}
    elif request.response_format is not None and config.response_format == "json_schema":
        schema = request.response_format
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "reply", "schema": schema, "strict": _closed(schema)},
        }
    return body


def _message(message: Message, show: Callable[[Image], str]) -> dict[str, Any]:
    content: Any = message.content
    if message.images:
        content = [{"type": "text", "text": message.content}] if message.content else []
        content += [{"type": "image_url", "image_url": {"url": show(image)}} for image in message.images]
    sent: dict[str, Any] = {"role": message.role, "content": content}
    if message.tool_calls:
        sent["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
        sent["content"] = content or None
    if message.role == "tool":
        sent["tool_call_id"] = message.tool_call_id
    return sent


def _closed(schema: Any) -> bool:
    """Whether a schema is of the strict form that OpenAI asks for: every object closed, all its properties required."""
    if isinstance(schema, list):
        return all(_closed(item) for item in schema)
    if not isinstance(schema, dict):
        return True
    properties = schema.get("properties")
    if schema.get("type") == "object" and (
        schema.get("additionalProperties") is not False or set(schema.get("required", ())) != set(properties or ())
    ):
        return False
    return all(_closed(value) for value in schema.values())
