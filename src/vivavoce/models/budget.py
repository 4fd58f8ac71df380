"""What a run may spend. A ledger file shared by the jobs of an experiment holds what was spent and what may be under way.

A call is let through only if it could not pass the budget even if it cost the most that it can: one token a byte of
prompt and max_tokens of reply. While calls under way hold the rest, the next one waits; when none do, BudgetError.
What was under way when a job was killed counts as spent, for it may have been billed.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from pathlib import Path

from vivavoce.errors import BudgetError, ConfigError
from vivavoce.models.failures import StoreError

log = logging.getLogger(__name__)


class Budget:
    """`usd` and `calls` for all jobs that share `ledger` (None: this job alone). None means no limit."""

    def __init__(
        self, usd: float | None = None, calls: int | None = None, *, ledger: Path | None = None, job: str = "job"
    ) -> None:
        self.usd, self.calls, self._job = usd, calls, job
        self._under_way = 0
        self._freed: asyncio.Event | None = None
        self._place = str(ledger) if ledger else "this job"
        try:
            if ledger:
                ledger.parent.mkdir(parents=True, exist_ok=True)
            self._ledger = sqlite3.connect(ledger or ":memory:", isolation_level=None, timeout=60, check_same_thread=False)
            self._ledger.execute("PRAGMA synchronous=OFF")  # safe against a kill, which is what matters, and quick
            self._ledger.execute(
                "CREATE TABLE IF NOT EXISTS jobs (job TEXT PRIMARY KEY,"
                " usd REAL NOT NULL DEFAULT 0, calls INTEGER NOT NULL DEFAULT 0,"
                " held_usd REAL NOT NULL DEFAULT 0, held_calls INTEGER NOT NULL DEFAULT 0)"
            )
            self._ledger.execute("INSERT OR IGNORE INTO jobs (job) VALUES (?)", (job,))
            held = self._ledger.execute("SELECT held_usd, held_calls FROM jobs WHERE job = ?", (job,)).fetchone()
            if held[1]:
                log.warning(
                    "%d call(s) were under way when %s was killed: up to $%.4f of them count as spent", held[1], job, held[0]
                )
                self._move(held[0], held[1], -held[0], -held[1])
        except (sqlite3.Error, OSError) as error:
            raise StoreError(f"{self._place}: the budget's ledger does not work: {error}. Delete it to count from 0.") from None

    async def reserve(self, usd: float | None, model: str = "") -> None:
        """Hold the most that one attempt can cost (None: unknown), waiting for calls under way if need be."""
        if usd is None and self.usd is not None:
            raise ConfigError(f"budget_usd is set but the price of {model} is unknown: give its `price`, or use budget_calls.")
        while not self._take(usd or 0.0):
            if not self._under_way:
                spent, calls = self.spent()
                limit = f"${self.usd:g}" if self.usd is not None and spent + (usd or 0.0) > self.usd else f"{self.calls} calls"
                raise BudgetError(
                    f"The next call could pass the budget of {limit}: ${spent:.4f} and {calls} calls are spent "
                    f"({self._place}). All replies paid for are stored: raise budget_usd or budget_calls and run again."
                )
            self._freed = self._freed or asyncio.Event()
            await self._freed.wait()
        self._under_way += 1

    def settle(self, held: float | None, usd: float | None, *, paid: bool) -> None:
        """End a reservation: `usd` was spent (None: unknown, so all that was held), or nothing if it was not `paid`."""
        self._under_way -= 1
        held = held or 0.0
        self._move((held if usd is None else usd) if paid else 0.0, int(paid), -held, -1)
        if self._freed is not None:
            self._freed.set()
            self._freed = None

    def spent(self) -> tuple[float, int]:
        """US dollars and calls spent so far, by all jobs of the ledger."""
        usd, calls = self._ledger.execute("SELECT total(usd), total(calls) FROM jobs").fetchone()
        return usd, int(calls)

    def close(self) -> None:
        """Close the ledger."""
        self._ledger.close()

    def _take(self, usd: float) -> bool:
        self._ledger.execute("BEGIN IMMEDIATE")
        try:
            total, calls = self._ledger.execute("SELECT total(usd + held_usd), total(calls + held_calls) FROM jobs").fetchone()
            fits = (self.usd is None or total + usd <= self.usd) and (self.calls is None or calls + 1 <= self.calls)
            if fits:
                self._move(0.0, 0, usd, 1)
        finally:
            self._ledger.execute("COMMIT")
        return bool(fits)

    def _move(self, usd: float, calls: int, held_usd: float, held_calls: int) -> None:
        self._ledger.execute(
            "UPDATE jobs SET usd = usd + ?, calls = calls + ?,"
            " held_usd = max(0, held_usd + ?), held_calls = max(0, held_calls + ?) WHERE job = ?",
            (usd, calls, held_usd, held_calls, self._job),
        )
