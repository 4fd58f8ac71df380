"""The limiter in simulated time: concurrency, pace a minute, pauses, and what 429 does."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vivavoce.models.limiter import Limiter, Pace


class Clockwork(asyncio.SelectorEventLoop):
    """An event loop whose time jumps to the next timer: an hour passes at once."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def time(self) -> float:
        return self.now

    def _run_once(self) -> None:
        if not self._ready and self._scheduled:  # type: ignore[attr-defined]
            self.now = max(self.now, self._scheduled[0]._when)  # type: ignore[attr-defined]
        super()._run_once()  # type: ignore[misc]


def run(work: Coroutine[Any, Any, Any]) -> Any:
    loop = Clockwork()
    try:
        return loop.run_until_complete(work)
    finally:
        loop.close()


async def drive(limiter: Limiter, calls: int, seconds: float = 1.0, tokens: float = 0.0) -> tuple[list[float], int]:
    """Start `calls` at once; their starting times, and the most under way at a time."""
    starts, active, peak = [], 0, 0

    async def one() -> None:
        nonlocal active, peak
        started = await limiter.acquire(tokens)
        starts.append(started)
        active += 1
        peak = max(peak, active)
        await asyncio.sleep(seconds)
        active -= 1
        limiter.release(started, good=True)

    await asyncio.gather(*(one() for _ in range(calls)))
    return sorted(starts), peak


@given(st.integers(1, 20), st.integers(1, 60))
def test_no_more_are_under_way_than_allowed_and_all_slots_are_used(concurrency: int, calls: int) -> None:
    starts, peak = run(drive(Limiter(concurrency), calls))
    assert peak == min(concurrency, calls)
    assert starts == [float(number // concurrency) for number in range(calls)]


@given(st.integers(1, 600), st.integers(1, 50))
def test_no_minute_holds_more_requests_than_allowed(per_minute: int, calls: int) -> None:
    starts, _ = run(drive(Limiter(64, per_minute), calls, 0.01))
    for start in starts:
        assert sum(start <= other < start + 59.999 for other in starts) <= per_minute


def test_no_minute_holds_more_tokens_than_allowed() -> None:
    starts, _ = run(drive(Limiter(64, None, 6000), 20, 0.01, tokens=1000))
    assert starts == pytest.approx([10.0 * number for number in range(20)])


def test_tokens_that_were_not_used_are_given_back() -> None:
    pace = Pace(60)
    assert pace.take(0, 10) == 0 and pace.take(0, 1) == 10
    pace.correct(-5)
    assert pace.take(0, 1) == 6
    assert pace.take(1000) == 0, "time that passed unused is no credit for a burst"
    assert pace.take(1000) == 1


def test_429_halves_once_for_all_calls_under_way_and_good_replies_raise_slowly() -> None:
    async def work() -> None:
        limiter = Limiter(16)
        batch = [await limiter.acquire() for _ in range(16)]
        await asyncio.sleep(1)
        for started in batch:
            limiter.release(started, limited=True)
        assert limiter.limit == 8, "sixteen refusals of one moment are one sign, not sixteen"
        for _ in range(3):
            await asyncio.sleep(1)
            limiter.release(await limiter.acquire(), limited=True)
        assert limiter.limit == 1
        limiter.release(await limiter.acquire(), limited=True)
        assert limiter.limit == 1, "never none"
        for _ in range(200):
            limiter.release(await limiter.acquire(), good=True)
        assert limiter.limit == 16
        for _ in range(5):
            limiter.release(await limiter.acquire())
        assert limiter.limit == 16, "a network error changes nothing"

    run(work())


def test_a_pause_holds_all_calls_and_ends_by_itself() -> None:
    async def work() -> tuple[list[float], int]:
        limiter = Limiter(4)
        limiter.pause(30)
        return await drive(limiter, 6)

    starts, _ = run(work())
    assert starts == [30.0] * 4 + [31.0] * 2


def test_a_pause_also_holds_calls_that_wait_for_their_pace() -> None:
    async def work() -> tuple[list[float], int]:
        limiter = Limiter(8, 60)
        asyncio.get_running_loop().call_later(1.5, limiter.pause, 10)
        return await drive(limiter, 4)

    starts, _ = run(work())
    assert starts[:2] == [0.0, 1.0] and min(starts[2:]) >= 11.5


def test_a_task_stopped_while_it_waits_gives_its_turn_on() -> None:
    async def work() -> None:
        limiter = Limiter(1)
        started = await limiter.acquire()
        waiting = [asyncio.create_task(limiter.acquire()) for _ in range(3)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        limiter.release(started)
        waiting[1].cancel()  # its turn has just been given
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        limiter.release(await waiting[2])
        assert limiter.active == 0

    run(work())
