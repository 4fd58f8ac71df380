"""The client: finds a call in the store, or pays for it under limits, with retries, and stores it before handing it on."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import logging
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from typing import Any, Protocol, cast

from vivavoce.config.model import ModelConfig
from vivavoce.errors import ConfigError, ModelError, RefusedError
from vivavoce.models.budget import Budget
from vivavoce.models.chat import ChatModel, ChatReply, ChatRequest
from vivavoce.models.failures import CallError, DeadlineError, OfflineMissError
from vivavoce.models.limiter import Limiter
from vivavoce.models.reply import read_reply
from vivavoce.models.retry import AttemptError, backoff
from vivavoce.models.rows import Finished
from vivavoce.models.store import CallStore, Kept
from vivavoce.models.wire import Call, prepare

log = logging.getLogger(__name__)
PROVIDERS = {
    "openai": "vivavoce.models.http:HttpTransport",
    "local": "vivavoce.models.local:LocalTransport",
    "extractive": "vivavoce.models.extractive:ExtractiveModel",
}
UNBOUNDED = 16_384  # reply tokens reckoned with where neither max_tokens nor a context length is set
IMAGE_TOKENS = 2_000


class Transport(Protocol):
    """What a provider needs to be stored, limited and retried: its class takes (config, environ)."""

    async def post(self, body: bytes, timeout: float) -> bytes: ...

    async def close(self) -> None: ...


@contextlib.asynccontextmanager
async def open_model(
    config: ModelConfig,
    store: CallStore | None,
    *,
    budget: Budget | None = None,
    offline: bool = False,
    environ: Mapping[str, str] | None = None,
) -> AsyncIterator[ChatModel]:
    """A model ready to be called. A provider class with `post` goes through store, limits and retries; one with `chat`
    (a baseline that costs nothing) is used as it is. Neither key nor server is needed while the store has the replies.
    """
    provider = _load(config)
    if not hasattr(provider, "post"):
        yield cast(ChatModel, provider(config))
        return
    if store is None:
        raise ConfigError(f"{config.name}: provider {config.provider} needs a call store")
    transport = cast(Transport, provider(config, environ))
    try:
        yield StoredModel(config, store, transport, budget=budget, offline=offline)
    finally:
        await transport.close()


@contextlib.asynccontextmanager
async def question_deadline(config: ModelConfig) -> AsyncIterator[None]:
    """Raises DeadlineError if the block takes longer than `question_timeout`; what it finished until then is stored."""
    try:
        async with asyncio.timeout(config.question_timeout) as scope:
            yield
    except TimeoutError:
        if scope.expired():
            raise DeadlineError(f"the question took longer than {config.question_timeout:g} s (question_timeout)") from None
        raise


class StoredModel:
    """A `ChatModel` over a transport and a store. Equal calls made at the same time are paid once.

    `counts` tells what happened: `paid`, `replayed`, `shared`, `retried`, `failed` calls.
    """

    def __init__(
        self,
        config: ModelConfig,
        store: CallStore,
        transport: Transport,
        *,
        budget: Budget | None = None,
        offline: bool = False,
    ) -> None:
        self.config = config
        self.counts: Counter[str] = Counter()
        self.limiter = Limiter(config.concurrency, config.requests_per_minute, config.tokens_per_minute)
        self._store, self._transport, self._budget, self._offline = store, transport, budget, offline
        self._flying: dict[str, asyncio.Future[ChatReply]] = {}

    @property
    def name(self) -> str:
        return self.config.name

    @property
    def native_tools(self) -> bool:
        return self.config.tool_calls == "native"

    async def chat(self, request: ChatRequest, *, sample: int = 0) -> ChatReply:
        """See `ChatModel.chat`. A stored reply carries the seconds and tokens that it took when it was paid for."""
        call = prepare(self.config, request, sample)
        while True:
            kept = self._store.get(call.key)
            if kept is not None and (reply := self._replay(call, kept)) is not None:
                return reply
            flying = self._flying.get(call.key)
            if flying is None:
                return await self._lead(call, request)
            try:
                reply = await asyncio.shield(flying)
            except asyncio.CancelledError:
                task = asyncio.current_task()
                if not flying.cancelled() or (task is not None and task.cancelling()):
                    raise
                continue  # only the task that was paying was stopped: this one takes over
            self.counts["shared"] += 1
            return reply

    def _replay(self, call: Call, kept: Kept) -> ChatReply | None:
        try:
            reply = read_reply(self.config, kept.response, call.key, kept.seconds)
        except ModelError as error:
            log.warning("%s: the stored call %s is no usable reply and counts as missing: %s", self.name, call.key, error)
            return None
        self.counts["replayed"] += 1
        return reply

    async def _lead(self, call: Call, request: ChatRequest) -> ChatReply:
        if self._offline:
            raise OfflineMissError(_miss(self.name, call, request))
        flying: asyncio.Future[ChatReply] = asyncio.get_running_loop().create_future()
        self._flying[call.key] = flying
        try:
            reply = await self._pay(call, request)
        except asyncio.CancelledError:
            flying.cancel()
            raise
        except BaseException as error:
            self.counts["failed"] += 1
            flying.set_exception(error)
            flying.exception()  # seen: nobody else may be waiting for it
            raise
        else:
            flying.set_result(reply)
            self.counts["paid"] += 1
            return reply
        finally:
            del self._flying[call.key]

    async def _pay(self, call: Call, request: ChatRequest) -> ChatReply:
        """Try until there is a reply, a failure that no retry cures, or no retry or time is left."""
        now = asyncio.get_running_loop().time
        most = int(request.parameters.get("max_tokens") or self.config.max_tokens or 0)
        tokens = (len(call.body) / 4 if not call.images else len(call.record) / 4 + len(call.images) * IMAGE_TOKENS) + most
        deadline = 0.0
        attempt = 0
        while True:
            started = await self.limiter.acquire(tokens)
            deadline = deadline or started + self.config.call_timeout
            try:
                return await self._attempt(call, request, started, min(self.config.timeout, deadline - now()), tokens)
            except AttemptError as failed:
                error, attempt = failed.error, attempt + 1
                wait = backoff(attempt - 1, random.Random(f"{call.key} {attempt}"))  # noqa: S311 - jitter
                if failed.wait is not None:
                    wait = failed.wait + min(wait, 0.1 + failed.wait / 10)
                    if now() + failed.wait < deadline:
                        self.limiter.pause(failed.wait)
                if not failed.again or attempt > self.config.retries or now() + wait >= deadline:
                    tries = f" ({attempt} attempts)" if attempt > 1 else ""
                    late = f"; it asked to wait {failed.wait:g} s" if failed.wait is not None else ""
                    error.args = (f"{self.name}: {error}{late}{tries}",)
                    raise error from None
            self.counts["retried"] += 1
            log.info("%s: attempt %d failed, again in %.1f s: %s", self.name, attempt, wait, error)
            await asyncio.sleep(wait)

    async def _attempt(self, call: Call, request: ChatRequest, started: float, timeout: float, tokens: float) -> ChatReply:
        """One attempt in the slot that began at `started`; the slot and the budget's hold are given back however it ends."""
        held = self._most(call, request) if self._budget else None
        good = limited = reserved = False
        paid, cost, used = True, None, 0.0  # unless it is known better: an attempt that is stopped may have been billed
        try:
            if self._budget:
                await self._budget.reserve(held, self.name)
                reserved = True
            begun = time.perf_counter()
            raw = await self._transport.post(call.body, timeout)
            seconds = round(time.perf_counter() - begun, 6)
            try:
                reply = read_reply(self.config, raw, call.key, seconds)
            except CallError as error:
                raise AttemptError(error, again=True, paid=True) from None
            except RefusedError as error:
                raise AttemptError(error, again=False, paid=True) from None
            usage, cost, good = reply.usage, reply.usage.cost, True
            counted = usage.prompt_tokens + usage.completion_tokens
            used = counted - tokens if counted else 0.0
        except AttemptError as failed:
            paid, limited = failed.paid, failed.limited
            raise
        except ConfigError:
            paid = False  # no key, no local model: nothing was sent
            raise
        finally:
            self.limiter.release(started, good=good, limited=limited, tokens=used)
            if reserved and self._budget:
                self._budget.settle(held, cost, paid=paid)
        if reply.finish_reason != "length":  # cut replies are handed on but not kept: a larger max_tokens must not find them
            await self._store.put(
                Finished(
                    key=call.key,
                    request=call.record,
                    response=raw,
                    seconds=seconds,
                    finish=reply.finish_reason,
                    prompt_tokens=usage.prompt_tokens if counted else None,
                    completion_tokens=usage.completion_tokens if counted else None,
                    images=call.images,
                )
            )
        return reply

    def _most(self, call: Call, request: ChatRequest) -> float | None:
        """The most that a call can cost: one token a byte of the request, and as many tokens of reply as are allowed."""
        if self.config.price is None:
            return None
        extra: Any = self.config.extra_body.get("max_completion_tokens")
        most = (
            request.parameters.get("max_tokens") or self.config.max_tokens or extra or self.config.context_length or UNBOUNDED
        )
        return self.config.price.of(len(call.record) + len(call.images) * IMAGE_TOKENS, int(most))


def _miss(model: str, call: Call, request: ChatRequest) -> str:
    question = request.fields.get("question_id")
    about = f" for question {question}" if question else ""
    return (
        f"{model}: offline, and the call{about} is in no store (key {call.key[:16]}). The prompt, the model or a parameter "
        "changed since it was recorded: run online, or re-record the demonstration with `make record`."
    )


def _load(config: ModelConfig) -> Any:
    target = PROVIDERS.get(config.provider, config.provider)
    module, _, name = target.partition(":")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError, TypeError) as error:
        raise ConfigError(
            f"{config.name}: no provider {config.provider!r} ({error}). Expected one of {', '.join(sorted(PROVIDERS))}, "
            "or package.module:Class."
        ) from None
