"""The pool: bounded, ordered by question, and stopped by its first exception."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest

from vivavoce.errors import BudgetError
from vivavoce.steps.pool import OrderedLines, pooled


async def test_lines_come_out_in_the_order_of_the_questions(tmp_path: Path) -> None:
    under_way, most = 0, 0

    async def work(number: int) -> bytes:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(random.Random(number).random() / 100)
        under_way -= 1
        return f"{number}\n".encode() * (number % 3)

    out = OrderedLines()
    await pooled(iter(range(50)), work, out, 7)
    out.write(tmp_path / "lines")
    assert (tmp_path / "lines").read_text() == "".join(f"{number}\n" * (number % 3) for number in range(50))
    assert most == 7


async def test_the_first_exception_stops_the_pool_and_is_raised_as_it_is() -> None:
    started = []

    async def work(number: int) -> bytes:
        started.append(number)
        await asyncio.sleep(0)
        if number == 3:
            raise BudgetError("enough")
        return b""

    with pytest.raises(BudgetError, match="enough"):
        await pooled(range(1000), work, OrderedLines(), 4)
    assert len(started) < 20


def test_a_position_may_come_once() -> None:
    out = OrderedLines()
    out.put(1, b"x")
    with pytest.raises(ValueError, match="position 1"):
        out.put(1, b"y")
