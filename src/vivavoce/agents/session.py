"""One question being answered: the calls made, the turns taken, the passages shown, and the rollout at the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from vivavoce.agents.base import Seat
from vivavoce.models.chat import ChatReply, ChatRequest, Message
from vivavoce.records import Outcome, Passage, Question, Rollout, Turn, Usage
from vivavoce.tools.tokens import cut

CITED_TASKS = ("claim", "boolean", "short_form", "long_form")
MAX_ANSWER_TOKENS = 30_000  # as published (agent_base.py:76@596e644e)


class Session:
    """Collects what a rollout records. `shown` holds the passages in the order of their citation numbers."""

    def __init__(self, agent: str, question: Question, seat: Seat, shown: Sequence[Passage] = ()) -> None:
        self.agent, self.question, self.seat = agent, question, seat
        self.shown = list(shown)
        self.turns: list[Turn] = []
        self.notes: list[str] = []
        self.usage = Usage()
        self.extra: dict[str, Any] = {}

    async def ask(
        self,
        messages: Sequence[Message],
        fields: Mapping[str, Any],
        sampling: Mapping[str, Any],
        tools: tuple[dict[str, Any], ...] = (),
    ) -> ChatReply:
        """One model call, its usage counted. Model errors pass through."""
        request = ChatRequest(
            messages=tuple(messages), tools=tools, parameters=dict(sampling), fields={**self._base_fields(), **fields}
        )
        reply = await self.seat.model.chat(request, sample=self.seat.seed)
        self.usage = self.usage + reply.usage
        return reply

    def finish(self, outcome: Outcome, answer: str | None = None, reason: str = "") -> Rollout:
        """The rollout; an answer that is blank becomes `invalid`."""
        if outcome == "answered" and not (answer or "").strip():
            outcome, answer, reason = "invalid", None, "the answer is empty"
        return Rollout(
            question_id=self.question.id,
            agent=self.agent,
            model=self.seat.model.name,
            seed=self.seat.seed,
            outcome=outcome,
            answer=None if answer is None else clean(cut(answer, MAX_ANSWER_TOKENS)),
            reason=reason,
            turns=tuple(self.turns),
            contexts=tuple(self.shown),
            usage=self.usage,
            notes=tuple(dict.fromkeys(self.notes)),
            extra=self.extra,
        )

    def _base_fields(self) -> dict[str, Any]:
        question = self.question
        return {
            "question_id": question.id,
            "question": question.text,
            "answer_format": question.answer_format,
            "task": question.task,
            "papers": list(question.papers),
            "venues": venues(question),
            "contexts": [msgspec.to_builtins(passage) for passage in self.shown],
            "history": [msgspec.to_builtins(turn) for turn in self.turns],
        }


def venues(question: Question) -> list[str]:
    """The venues that a question names: the one thing of `extra` that agents are shown."""
    named = question.extra.get("conference") or question.extra.get("venue") or []
    return [named] if isinstance(named, str) else [str(item) for item in named]


def plain(value: Any) -> Any:
    """A value of a model's making as JSON can hold it, and equal on every machine: sets become sorted lists."""
    if isinstance(value, str):
        return clean(value)
    if value is None or isinstance(value, (bool, int)) or (isinstance(value, float) and value - value == 0):
        return value
    if isinstance(value, (set, frozenset)):
        return sorted((plain(item) for item in value), key=repr)
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {clean(str(key)): plain(item) for key, item in value.items()}
    return clean(str(value))


def answer_text(value: Any) -> str:
    """The answer of GenerateAnswer as text: Python's notation, as published (agent_base.py:76@596e644e)."""
    return "" if value is None else str(plain(value))


def clean(text: str) -> str:
    """Text that UTF-8 can hold: lone surrogates become question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")
