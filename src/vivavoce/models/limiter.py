"""One limiter a job: how many calls are under way, how many start a minute, and when all must wait.

Concurrency adapts as TCP does: a 429 halves it (once for all the calls that were under way), each good reply raises it by
a share, up to what is configured. Network errors do not touch it. Requests and tokens are paced evenly over the minute,
so that no minute holds more than is allowed.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable


class Pace:
    """At most `per_minute` units in any minute, evenly spaced: `take` says how long to wait before using them."""

    def __init__(self, per_minute: int | None) -> None:
        self._interval = 60.0 / per_minute if per_minute else 0.0
        self._free = 0.0

    def take(self, now: float, units: float = 1.0) -> float:
        """Seconds from `now` until `units` may be used; they count as used."""
        start = max(now, self._free)
        self._free = start + units * self._interval
        return start - now

    def correct(self, units: float) -> None:
        """Add (or give back, if negative) units that were estimated too low or too high."""
        self._free += units * self._interval


class Limiter:
    """Slots for calls: `started = await limiter.acquire(tokens)`, and always `limiter.release(started, ...)`."""

    def __init__(self, concurrency: int, requests_per_minute: int | None = None, tokens_per_minute: int | None = None) -> None:
        self.most = concurrency
        self.limit = float(concurrency)
        self.active = 0
        self._requests, self._tokens = Pace(requests_per_minute), Pace(tokens_per_minute)
        self._paced = bool(requests_per_minute or tokens_per_minute)
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._paused_until = 0.0
        self._lowered = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._clock: Callable[[], float] = lambda: asyncio.get_running_loop().time()

    async def acquire(self, tokens: float = 0.0) -> float:
        """Wait for a slot; returns the time at which the call starts. First come, first served."""
        if self.active < int(self.limit) and not self._waiting and self._clock() >= self._paused_until:
            self.active += 1
        else:
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            self._wake()
            try:
                await turn
            except asyncio.CancelledError:
                if turn.done() and not turn.cancelled():
                    self._leave()  # the slot came just as the task was stopped
                raise
        if self._paced:
            now = self._clock()
            wait = max(self._requests.take(now), self._tokens.take(now, tokens))
            try:
                while wait > 0:
                    await asyncio.sleep(wait)
                    wait = self._paused_until - self._clock()  # the server may have asked for a pause meanwhile
            except BaseException:
                self._leave()
                raise
        return self._clock()

    def release(self, started: float, *, good: bool = False, limited: bool = False, tokens: float = 0.0) -> None:
        """Give a slot back. `good`: a reply came; `limited`: the server said 429; `tokens`: used less estimated."""
        if limited and started >= self._lowered:
            self.limit = max(1.0, self.limit / 2)
            self._lowered = self._clock()
        elif good and self.limit < self.most:
            self.limit = min(float(self.most), self.limit + 1.0 / self.limit)
        if tokens:
            self._tokens.correct(tokens)
        self._leave()

    def pause(self, seconds: float) -> None:
        """No call starts for so long: the server asked for it."""
        self._paused_until = max(self._paused_until, self._clock() + seconds)

    def _leave(self) -> None:
        self.active -= 1
        self._wake()

    def _wake(self) -> None:
        delay = self._paused_until - self._clock()
        if delay > 0:
            if self._waiting and self._timer is None:
                self._timer = asyncio.get_running_loop().call_later(delay, self._ring)
            return
        while self._waiting and self.active < int(self.limit):
            turn = self._waiting.popleft()
            if not turn.done():
                self.active += 1
                turn.set_result(None)

    def _ring(self) -> None:
        self._timer = None
        self._wake()
