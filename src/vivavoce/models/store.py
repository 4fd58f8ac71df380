"""The call store: every finished call, paid once. One SQLite file a job; a reply is handed on only when it is on disk.

A thread of its own writes, all waiting calls in one commit. Reading is a look-up by key. The file is in WAL mode where the
file system can, so a reader may look while a job runs; a second writer is refused by a lock on `<file>.lock`.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import fcntl
import logging
import queue
import sqlite3
import threading
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Self

import msgspec

from vivavoce.models.exchange import Conflict, Line, merge, read_lines, write_lines
from vivavoce.models.failures import StoreError
from vivavoce.models.rows import INSERT, INSERT_IMAGE, SCHEMA, Finished, as_row

log = logging.getLogger(__name__)
MOST = 500  # calls a commit


class Kept(msgspec.Struct, frozen=True):
    """A stored response and how long it took when it was paid for."""

    response: bytes
    seconds: float


def store_root(environ: Mapping[str, str], folder: Path) -> Path:
    """Where stores lie: VIVAVOCE_STORE, or .vivavoce/calls in the folder of the workflow. Outside every declared output."""
    return Path(environ["VIVAVOCE_STORE"]).expanduser() if environ.get("VIVAVOCE_STORE") else folder / ".vivavoce" / "calls"


def store_file(root: Path, *, stage: str, benchmark: str, agent: str, model: str, seed: int) -> Path:
    """The store of one job under `root` (VIVAVOCE_STORE, or .vivavoce/calls): no two jobs share a file."""
    return root / stage / benchmark / agent / model / f"s{seed}.sqlite"


class CallStore:
    """The calls of one job. `also` are recorded calls (JSONL exports, .gz or not) that answer where the store itself cannot.

    `readonly` (offline) never makes or changes a file, and a missing file is an empty store. StoreError says what is wrong.
    """

    def __init__(self, path: Path, *, also: Sequence[Path] = (), readonly: bool = False) -> None:
        self.path = path
        self._also = tuple(also)
        self._recorded: dict[str, Kept] | None = None
        self._lock: IO[str] | None = None
        self._queue: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._mutex = threading.Lock()
        self._reader: sqlite3.Connection | None = None
        self.readonly = readonly
        try:
            if readonly:
                self._reader = _open_readonly(path)
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                self._lock = _lock(path)
                self._writer = _open_writable(path)
                self._reader = sqlite3.connect(path, check_same_thread=False, isolation_level=None, timeout=60)
                self._thread = threading.Thread(target=self._write_all, name="call-store", daemon=True)
                self._thread.start()
        except (sqlite3.Error, OSError) as error:
            self.close()
            raise StoreError(_advice(path, error)) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Write what waits, fold the log into the file, let go of the lock."""
        if self._thread is not None:
            self._queue.put(None)
            self._thread.join()
            self._thread = None
        with self._mutex:
            if self._reader is not None:
                self._reader.close()
                self._reader = None
        if self._lock is not None:
            with contextlib.suppress(AttributeError, sqlite3.Error):
                self._writer.close()
            self._lock.close()
            self._lock = None

    def get(self, key: str) -> Kept | None:
        """The stored response, or None. A damaged row is None with a warning: the call is made again and replaces it."""
        try:
            with self._mutex:
                row = (
                    self._reader.execute("SELECT response, crc, seconds FROM calls WHERE key = ?", (key,)).fetchone()
                    if self._reader
                    else None
                )
            if row is not None:
                response = row[0].encode() if isinstance(row[0], str) else bytes(row[0])
                if zlib.crc32(response) == row[1] and isinstance(row[2], float):
                    return Kept(response, row[2])
                log.warning("%s: the stored call %s is damaged and counts as missing", self.path, key)
        except (sqlite3.DatabaseError, UnicodeError) as error:
            log.warning("%s: the stored call %s cannot be read (%s) and counts as missing", self.path, key, error)
        if self._recorded is None:
            self._recorded = {
                line.key: Kept(bytes(line.response), line.seconds)
                for source in self._also
                for line in read_lines(source)
                if isinstance(line, Line)
            }
        return self._recorded.get(key)

    async def put(self, call: Finished) -> None:
        """Store a call; returns when it is committed. It is stored even if the waiting task is cancelled meanwhile."""
        if self._thread is None:
            raise StoreError(f"{self.path} is open for reading only")
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        self._queue.put((call, loop, done))
        await done

    def keys(self) -> Iterator[str]:
        """The keys of the file's own calls, sorted."""
        with self._mutex:
            rows = self._reader.execute("SELECT key FROM calls ORDER BY key").fetchall() if self._reader else []
        yield from (row[0] for row in rows)

    def export_jsonl(self, path: Path) -> int:
        """Write all calls as JSONL (.gz: compressed) sorted by key, so that equal stores give equal files; returns how many."""
        if self._reader is None:
            raise StoreError(f"{self.path}: no such call store, so there is nothing to export")
        return write_lines(path, self._reader)

    def import_jsonl(self, path: Path, *, conflicts: Conflict = "error") -> int:
        """Merge an export; returns how many calls were new.

        A call that is here with another response is a conflict: `error` names them and imports nothing, `keep` keeps
        this store's, `replace` takes the file's.
        """
        if self._thread is None:
            raise StoreError(f"{self.path} is open for reading only")
        return merge(self.path, path, conflicts)

    def _write_all(self) -> None:
        """The writer thread: take all that waits, commit, tell those who wait."""
        while True:
            first = self._queue.get()
            batch = [] if first is None else [first]
            while first is not None and len(batch) < MOST:
                try:
                    item = self._queue.get_nowait()
                except queue.Empty:
                    break
                if item is None:
                    first = None
                else:
                    batch.append(item)
            failure = self._commit([call for call, _, _ in batch]) if batch else None
            for loop in {loop for _, loop, _ in batch}:
                waiting = [done for _, other, done in batch if other is loop]
                with contextlib.suppress(RuntimeError):  # the loop was closed: nobody waits any more
                    loop.call_soon_threadsafe(_settle, waiting, failure)
            if first is None:
                return

    def _commit(self, calls: Iterable[Finished]) -> StoreError | None:
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
        writer = self._writer
        try:
            writer.execute("BEGIN IMMEDIATE")
            for call in calls:
                if call.images:
                    writer.executemany(INSERT_IMAGE, call.images.items())
                writer.execute(INSERT, as_row(call, now))
            writer.execute("COMMIT")
        except (sqlite3.Error, UnicodeError) as error:
            with contextlib.suppress(sqlite3.Error):
                writer.execute("ROLLBACK")
            return StoreError(_advice(self.path, error))
        return None


def _settle(waiting: Iterable[asyncio.Future[None]], failure: StoreError | None) -> None:
    for done in waiting:
        if not done.done():
            if failure is None:
                done.set_result(None)
            else:
                done.set_exception(failure)


def _lock(path: Path) -> IO[str]:
    stream = path.with_name(path.name + ".lock").open("a")
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        stream.close()
        raise StoreError(
            f"{path} is in use by another process. A call store belongs to one job: let the other workflow end, or stop it, "
            "or give this one another folder with VIVAVOCE_STORE."
        ) from None
    except OSError as error:
        log.warning("%s: this file system cannot lock (%s); do not start two workflows on one store", path, error)
    return stream


def _open_writable(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None, timeout=60)
    try:
        mode = connection.execute("PRAGMA journal_mode=WAL").fetchone()[0]
    except sqlite3.OperationalError:
        mode = connection.execute("PRAGMA journal_mode=DELETE").fetchone()[0]
    if mode != "wal":
        log.warning("%s: no write-ahead log on this file system (journal_mode %s): slower, as safe", path, mode)
    # A killed process loses nothing: what is committed is with the operating system. A power cut may lose the last commits.
    connection.execute("PRAGMA synchronous=NORMAL" if mode == "wal" else "PRAGMA synchronous=FULL")
    connection.executescript(SCHEMA)
    return connection


def _open_readonly(path: Path) -> sqlite3.Connection | None:
    if not path.exists():
        return None
    uri = path.resolve().as_uri()
    for options in ("mode=ro", "mode=ro&immutable=1"):  # a read-only folder cannot hold the log's index: read it as it is
        connection = sqlite3.connect(f"{uri}?{options}", uri=True, check_same_thread=False, isolation_level=None)
        try:
            connection.execute("SELECT key FROM calls LIMIT 1").fetchone()
        except sqlite3.OperationalError:
            connection.close()
        else:
            return connection
    raise sqlite3.OperationalError("unable to open the file for reading")


def _advice(path: Path, error: Exception) -> str:
    text = str(error)
    if "full" in text:
        todo = "Free some space and run again: every call stored before is kept and not paid twice."
    elif "not a database" in text or "malformed" in text:
        todo = f"The file is damaged: save what is left with `sqlite3 {path.name} .recover`, or move it away."
    else:
        todo = "Check that the folder can be written, or choose another with VIVAVOCE_STORE."
    return f"{path}: the call store does not work: {text}. {todo}"
