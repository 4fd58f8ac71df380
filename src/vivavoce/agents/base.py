"""What an agent is, and what it is given to answer one question."""

from __future__ import annotations

from typing import Protocol

import msgspec

from vivavoce.corpus.base import Library
from vivavoce.models.chat import ChatModel
from vivavoce.records import Question, Rollout


class Seat(msgspec.Struct, frozen=True, kw_only=True):
    """Where an agent sits for one question: the model it may call and the corpus it may read.

    `corpus` is None where the benchmark has no papers. `seed` also numbers the sample:
    `model.chat(request, sample=seat.seed)`.
    """

    model: ChatModel
    corpus: Library | None = None
    seed: int = 0


class Agent(Protocol):
    """Answers one question. A `ModelError` that escapes is recorded by the driver as `error` (or `refused`)."""

    @property
    def name(self) -> str: ...

    async def answer(self, question: Question, seat: Seat) -> Rollout: ...
