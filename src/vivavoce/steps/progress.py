"""Progress of a step: which one, how many done, time left; in place on a terminal, a plain line now and then in a log."""

from __future__ import annotations

import logging
import sys
import time

log = logging.getLogger(__name__)


class Progress:
    """Counts finished items and says so at most every `interval` seconds."""

    def __init__(self, label: str, total: int, unit: str = "questions") -> None:
        self.label, self.total, self.unit = label, total, unit
        self.done = 0
        self.interval = 1.0 if sys.stderr.isatty() else 15.0
        self._start = self._said = time.monotonic()

    def step(self, count: int = 1) -> None:
        """Count `count` more as done."""
        self.done += count
        now = time.monotonic()
        if now - self._said >= self.interval:
            self._said = now
            left = (now - self._start) / self.done * (self.total - self.done)
            log.info("%s: %d of %d %s, about %s left", self.label, self.done, self.total, self.unit, _clock(left))

    def end(self) -> None:
        """Say the total and the time it took."""
        log.info("%s: %d %s in %s", self.label, self.done, self.unit, _clock(time.monotonic() - self._start))


def _clock(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{int(seconds // 60)} min {int(seconds % 60):02d} s"
