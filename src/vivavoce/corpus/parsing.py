"""Parsing many PDFs in processes of their own, each result kept by the digest of its PDF, so that a killed ingest goes on
where it stopped.
"""

from __future__ import annotations

import multiprocessing
import resource
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import msgspec

from vivavoce.corpus.manifest import parser_digest
from vivavoce.corpus.parse import ParsedPaper, Parsing, Unreadable, parse_pdf
from vivavoce.files import digest, sha256, write_text

_MEMORY = 6 * 2**30  # bytes a parsing process may map; a PDF that needs more is skipped
Progress = Callable[[str, int, int], None]


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """A parsed PDF, or why it was skipped."""

    paper: ParsedPaper | None = None
    reason: str = ""


def parse_all(
    pdfs: Sequence[Path], parsing: Parsing, cache: Path, *, processes: int, seconds: float, progress: Progress | None = None
) -> Iterator[tuple[Path, str, Outcome]]:
    """Yield (path, sha256, outcome) in the order of `pdfs`, one at a time in memory.

    A PDF that crashes its process, or needs more than `seconds` or 6 GiB, is an outcome like any other; the rest goes on.
    """
    code = digest([msgspec.to_builtins(parsing), parser_digest()])
    digests = [sha256(path) for path in pdfs]
    kept = [cache / "parsed" / known[:2] / f"{digest([known, code])}.json" for known in digests]
    todo = {file: path for file, path in zip(kept, pdfs, strict=True) if not file.is_file()}
    jobs = [(path, parsing, file, seconds) for file, path in todo.items()]
    done = len(kept) - len(jobs)
    for count, _ in enumerate(_run(jobs, processes), done + 1):
        if progress:
            progress("parse", count, len(kept))
    for path, known, file in zip(pdfs, digests, kept, strict=True):
        yield path, known, msgspec.json.decode(file.read_bytes(), type=Outcome)


def _run(jobs: list[tuple[Path, Parsing, Path, float]], processes: int) -> Iterator[None]:
    if processes < 2 or len(jobs) < 2:
        for job in jobs:
            _keep(job)
            yield
        return
    try:
        for future in _pool(jobs, processes):
            future.result()
            yield
    except BrokenProcessPool:
        # Something crashed: the rest one by one, each in a process of its own, so that the culprit is known.
        for job in [job for job in jobs if not job[2].is_file()]:
            try:
                for future in _pool([job], 1):
                    future.result()
            except BrokenProcessPool:
                _store(job[2], Outcome(reason="corrupt: it crashes the PDF reader"))
            yield


def _pool(jobs: list[tuple[Path, Parsing, Path, float]], processes: int) -> Iterator[Future[str]]:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context, initializer=_limit) as pool:
        yield from as_completed([pool.submit(_keep, job) for job in jobs])


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))


def _keep(job: tuple[Path, Parsing, Path, float]) -> str:
    """Parse one PDF and store the outcome; returns the reason if it was skipped."""
    path, parsing, file, seconds = job
    try:
        outcome = Outcome(paper=_timed(path, parsing, seconds))
    except Unreadable as error:
        outcome = Outcome(reason=str(error))
    except TimeoutError:
        outcome = Outcome(reason=f"slow: not parsed within {seconds:g} s")
    except MemoryError:
        outcome = Outcome(reason="large: it needs more memory than a PDF may")
    except Exception as error:  # a broken PDF may raise anything in the libraries below; it is named and skipped
        outcome = Outcome(reason=f"corrupt: {type(error).__name__}: {error}")
    _store(file, outcome)
    return outcome.reason


def _store(file: Path, outcome: Outcome) -> None:
    write_text(file, msgspec.json.encode(outcome).decode())


def _timed(path: Path, parsing: Parsing, seconds: float) -> ParsedPaper:
    def stop(_signal: int, _frame: Any) -> None:
        raise TimeoutError

    try:
        before = signal.signal(signal.SIGALRM, stop)
    except ValueError:  # not the main thread: no alarm there
        return parse_pdf(path, parsing)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        return parse_pdf(path, parsing)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
