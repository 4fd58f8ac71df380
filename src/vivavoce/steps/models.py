"""Open the model that a step calls, with its call store, recorded calls and the experiment's budget."""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncIterator

from vivavoce import cli
from vivavoce.config.experiment import ExperimentConfig
from vivavoce.models.budget import Budget
from vivavoce.models.chat import ChatModel, ChatReply, ChatRequest
from vivavoce.models.client import open_model
from vivavoce.models.store import CallStore
from vivavoce.plan import NO_MODEL


@contextlib.asynccontextmanager
async def opened(config: ExperimentConfig, name: str, *job: str) -> AsyncIterator[ChatModel]:
    """The chat model `name` with the call store of `job` (stage and names), and offline with the recorded calls.

    `none` is a model that must not be called.
    """
    if name == NO_MODEL:
        yield NoModel()
        return
    limits = config.budget_usd is not None or config.budget_calls is not None
    ledger = cli.store("budget", config.name).with_suffix(".ledger")  # among the call stores, but none of them
    budget = Budget(config.budget_usd, config.budget_calls, ledger=ledger, job="/".join(job)) if limits else None
    with contextlib.ExitStack() as stack:
        recorded = [cli.ROOT / path for path in config.recorded] if config.offline else []  # a live run asks anew
        store = stack.enter_context(CallStore(cli.store(*job), also=recorded, readonly=config.offline))
        if budget is not None:
            stack.callback(budget.close)
        async with open_model(config.model[name], store, budget=budget, offline=config.offline, environ=os.environ) as chat:
            yield chat


class NoModel:
    """Sits where an agent needs no model."""

    name = NO_MODEL
    native_tools = False

    async def chat(self, request: ChatRequest, *, sample: int = 0) -> ChatReply:
        """Always an error: the agent's configuration says that it needs no model."""
        raise AssertionError("an agent with needs_model: false called a model")
