"""The offline baseline: a real algorithm in the place of a language model, reached through the same interface.

It reads `ChatRequest.fields` (what the prompt was rendered from), looks for the sentences and table cells that share most
with the question, coerces them to the answer format, and replies in the form that the prompt asks a model for. It acts by a
fixed strategy with the actions on offer. It knows no language: no score of it says anything about a language model.
"""

from __future__ import annotations

import json
from typing import Any

from vivavoce.errors import ModelError
from vivavoce.models.action_text import write_action, write_turn
from vivavoce.models.chat import ChatReply, ChatRequest, ToolCall
from vivavoce.models.extractive_act import next_action
from vivavoce.models.extractive_answer import answer
from vivavoce.models.extractive_revise import revise
from vivavoce.records import Usage


class ExtractiveModel:
    """Deterministic and free. `usage` counts calls and words, its cost is 0."""

    images = False

    def __init__(self, config: Any = None) -> None:
        self._name = str(getattr(config, "name", "") or "extractive")
        self._native = getattr(config, "tool_calls", "text") == "native"

    @property
    def name(self) -> str:
        return self._name

    @property
    def native_tools(self) -> bool:
        return self._native

    async def chat(self, request: ChatRequest, *, sample: int = 0) -> ChatReply:
        """Reply to a request of kind answer, act, draft, feedback, edit or attribute; ModelError for any other."""
        fields = request.fields
        words = sum(len(message.content.split()) for message in request.messages)
        kind = fields.get("kind")
        if kind == "answer":
            reply = ChatReply(text=_answer(fields))
        elif kind == "act":
            reply = _act(fields)
        elif kind == "draft":
            reply = ChatReply(text=_draft(fields))
        elif kind in ("feedback", "edit", "attribute"):
            reply = ChatReply(text=revise(fields))
        else:
            raise ModelError(
                f"the model {self._name} is an offline baseline and knows no request of kind {kind!r}; "
                "choose a language model for this"
            )
        usage = Usage(calls=1, prompt_tokens=words, completion_tokens=len(reply.text.split()), cost=0.0)
        return ChatReply(text=reply.text, tool_calls=reply.tool_calls, finish_reason=reply.finish_reason, usage=usage)


def _answer(fields: dict[str, Any]) -> str:
    value = answer(fields)
    text = value if isinstance(value, str) else repr(value)
    return f"The passages nearest to the question were read.\n\n```txt\n{text}\n```" if fields.get("fenced") else text


def _act(fields: dict[str, Any]) -> ChatReply:
    thought, name, arguments = next_action(fields)
    if fields.get("native"):
        call = ToolCall(id=f"call-{len(fields['history'])}", name=name, arguments=json.dumps(arguments))
        return ChatReply(text=thought, tool_calls=(call,), finish_reason="tool_calls")
    text = write_action(name, arguments, fields["syntax"])
    if fields.get("protocol") == "code_block":
        return ChatReply(text=f"{thought}\n\n```{fields['syntax']}\n{text}\n```")
    return ChatReply(text=write_turn(thought, text))


def _draft(fields: dict[str, Any]) -> str:
    """The strategy's own first steps, in words."""
    steps, history = [], list(fields["history"])
    for _ in range(4):
        thought, name, _ = next_action({**fields, "history": history})
        steps.append(f"Use {name}: {thought[0].lower()}{thought[1:]}")
        history.append({"action": name, "observation": ""})
        if name == "GenerateAnswer":
            break
    return "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))
