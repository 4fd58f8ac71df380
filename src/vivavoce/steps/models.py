"""Open the model that a step calls, with its call store and the experiment's limits."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

from vivavoce.config.experiment import ExperimentConfig
from vivavoce.models.chat import ChatModel, ChatReply, ChatRequest
from vivavoce.plan import NO_MODEL


@contextlib.asynccontextmanager
async def opened(config: ExperimentConfig, name: str, store: Path) -> AsyncIterator[ChatModel]:
    """The chat model `name`; `none` is a model that must not be called."""
    yield NoModel()


class NoModel:
    """Sits where an agent needs no model."""

    name = NO_MODEL
    native_tools = False

    async def chat(self, request: ChatRequest, *, sample: int = 0) -> ChatReply:
        """Always an error: the agent's configuration says that it needs no model."""
        raise AssertionError("an agent with needs_model: false called a model")
