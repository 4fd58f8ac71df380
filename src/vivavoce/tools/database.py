"""RetrieveFromDatabase: one read-only SELECT, in a locked process, with limits of rows, tokens, seconds and memory."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec

from vivavoce.errors import DataError
from vivavoce.tools import sql_worker
from vivavoce.tools.errors import ActionError, ActionTimeoutError
from vivavoce.tools.sql_check import check_select

_WORKER = Path(sql_worker.__file__)  # imported so that an edit of it counts as an edit of this module
_CATALOGUE = (
    "SELECT table_name, column_name, data_type FROM information_schema.columns "
    "WHERE table_catalog = 'library' AND table_schema = 'main' ORDER BY table_name, ordinal_position"
)


class Rows(msgspec.Struct, frozen=True, kw_only=True):
    """A result: at most the rows asked for, and whether there were more."""

    columns: list[str]
    rows: list[list[Any]]
    more: bool = False


class Column(msgspec.Struct, frozen=True, kw_only=True):
    """A column of the corpus's database."""

    table: str
    name: str
    kind: str


class _Process:
    """One worker, restarted when the kernel ended it."""

    def __init__(self, database: Path, seconds: float, megabytes: int) -> None:
        self._arguments = [sys.executable, "-I", str(_WORKER), str(database), str(seconds), str(megabytes)]
        self._child: subprocess.Popen[str] | None = None

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        child = self._child
        if child is None or child.poll() is not None:
            child = self._child = subprocess.Popen(
                self._arguments,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                encoding="utf-8",
                env={},
            )
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            child.stdin.write(json.dumps(request) + "\n")
            child.stdin.flush()
            line = child.stdout.readline()
        except BrokenPipeError:
            line = ""
        if line:
            reply: dict[str, Any] = json.loads(line)
            return reply
        code = child.wait()
        self.close()
        return {"error": "", "kind": "Timeout" if code == -14 else "Memory", "code": code}

    def close(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.kill()
            child.wait()
            for stream in (child.stdin, child.stdout):
                if stream is not None:
                    stream.close()


class Database:
    """The DuckDB file of a corpus, as agents may query it. Safe to share between tasks; two queries run at once.

    `seconds` bounds a query's time and `megabytes` its memory; a query that passes them ends with an error, and so does
    none of the others.
    """

    def __init__(self, path: Path, *, seconds: float = 20.0, megabytes: int = 512, workers: int = 2) -> None:
        if not path.is_file():
            raise DataError(f"{path}: no such database. The ingest step makes it: run snakemake again.")
        self._seconds = seconds
        processes: list[_Process] = []
        local = threading.local()

        def start() -> None:
            local.process = _Process(path.resolve(), seconds, megabytes)
            processes.append(local.process)

        self._local = local
        self._threads = ThreadPoolExecutor(max_workers=workers, thread_name_prefix="sql", initializer=start)
        self.close = weakref.finalize(self, _close, self._threads, processes)
        self._columns: tuple[Column, ...] | None = None

    async def columns(self) -> tuple[Column, ...]:
        """The columns of all tables, sorted by table, in the table's order."""
        if self._columns is None:
            found = await self._run(_CATALOGUE, rows=10_000, characters=200)
            self._columns = tuple(Column(table=row[0], name=row[1], kind=row[2]) for row in found.rows)
        return self._columns

    async def select(self, sql: str, *, rows: int = 10, characters: int = 40_000) -> Rows:
        """Run one SELECT; texts are cut at `characters`. Raises ActionError (ActionTimeoutError when time ran out)."""
        check_select(sql, frozenset(column.table for column in await self.columns()))
        return await self._run(sql, rows=rows, characters=characters)

    async def _run(self, sql: str, *, rows: int, characters: int) -> Rows:
        request = {"sql": sql, "rows": rows, "characters": characters}
        reply = await asyncio.get_running_loop().run_in_executor(self._threads, self._ask, request)
        if "rows" in reply:
            return msgspec.convert(reply, Rows)
        if reply["kind"] in ("Timeout", "InterruptException"):
            raise ActionTimeoutError(f"the query ran for more than {self._seconds:g} seconds and was stopped")
        if reply["kind"] in ("Memory", "OutOfMemoryException", "MemoryError"):
            raise ActionError("the query needs more memory than it may have and was stopped")
        raise ActionError(reply["error"] or reply["kind"])

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        process: _Process = self._local.process
        return process.ask(request)


def _close(threads: ThreadPoolExecutor, processes: list[_Process]) -> None:
    threads.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.close()
