"""Calls a second replayed from the call store, as a rerun step does it: python benchmarks/replay.py [--calls 20000]"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from pathlib import Path

from vivavoce.config.model import ModelConfig
from vivavoce.models.chat import ChatRequest, Message
from vivavoce.models.client import open_model
from vivavoce.models.rows import Finished
from vivavoce.models.store import CallStore
from vivavoce.models.wire import prepare

RESPONSE = (
    b'{"choices":[{"index":0,"message":{"role":"assistant","content":"'
    + b"The answer. " * 20
    + b'"},"finish_reason":"stop"}],"usage":{"prompt_tokens":300,"completion_tokens":60}}'
)


async def measure(calls: int, words: int, folder: Path) -> None:
    """Fill a store, then answer every call from it, 64 tasks at a time."""
    config = ModelConfig.parse("m", {"base_url": "http://127.0.0.1:9/v1", "model": "m"})

    def request(number: int) -> ChatRequest:
        return ChatRequest(messages=(Message(role="user", content=f"{number} " + "word " * words),))

    begun = time.perf_counter()
    with CallStore(folder / "calls.sqlite") as store:
        for start in range(0, calls, 1000):
            ready = [prepare(config, request(number), 0) for number in range(start, min(start + 1000, calls))]
            finished = [
                Finished(key=one.key, request=one.record, response=RESPONSE, seconds=0.1, finish="stop") for one in ready
            ]
            await asyncio.gather(*(store.put(one) for one in finished))
    filled = time.perf_counter()
    with CallStore(folder / "calls.sqlite", readonly=True) as store:
        async with open_model(config, store, offline=True) as model:
            waiting = iter(range(calls))

            async def work() -> None:
                for number in waiting:
                    await model.chat(request(number))

            await asyncio.gather(*(work() for _ in range(64)))
    ended = time.perf_counter()
    stored, replayed = calls / (filled - begun), calls / (ended - filled)
    print(f"{calls} calls of {words} words: stored {stored:,.0f} a second, replayed {replayed:,.0f} a second")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=20_000)
    options = parser.parse_args()
    for size in (200, 5000):
        with tempfile.TemporaryDirectory() as name:
            asyncio.run(measure(options.calls if size == 200 else options.calls // 10, size, Path(name)))
