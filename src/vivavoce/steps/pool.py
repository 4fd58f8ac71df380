"""Run many questions at once in bounded memory, and write their lines in the order of the questions."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, TypeVar

from vivavoce.files import atomic

T = TypeVar("T")


async def pooled(items: Iterable[T], work: Callable[[T], Awaitable[bytes]], out: OrderedLines, concurrency: int) -> None:
    """Call `work` on every item, at most `concurrency` at once, and hand its line (or lines) to `out` as soon as it is done.

    Items are drawn one by one, so a generator of any length is fine. The first exception stops the pool and is raised.
    """
    source = enumerate(items)

    async def worker() -> None:
        for position, item in source:
            out.put(position, await work(item))

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(concurrency):
                group.create_task(worker())
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None


class OrderedLines:
    """Takes blocks of bytes in any order and copies them to a file by position; keeps two integers a block in memory."""

    def __init__(self) -> None:
        self._spool: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by write()
        self._places: dict[int, tuple[int, int]] = {}
        self._end = 0

    def put(self, position: int, block: bytes) -> None:
        """Keep a block for its position (each position once)."""
        if position in self._places:
            raise ValueError(f"position {position} came twice")
        self._spool.write(block)
        self._places[position] = (self._end, len(block))
        self._end += len(block)

    def write(self, path: Path) -> None:
        """Write all blocks by position, atomically."""
        with self._spool, atomic(path, "wb") as stream:
            for block in self._blocks():
                stream.write(block)

    def _blocks(self) -> Iterator[bytes]:
        for position in sorted(self._places):
            start, length = self._places[position]
            self._spool.seek(start)
            yield self._spool.read(length)
