"""Fetching papers' PDFs from their publishers, politely: few at a time from a host, with pauses, resumed where they broke off.

What is fetched stays on the machine that fetched it: `downloads.json` notes URL, digest and licence of each file, and nothing
is handed on.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from pydantic import Field

from vivavoce.config.base import Frozen
from vivavoce.corpus.catalogue import Entry
from vivavoce.errors import DataError
from vivavoce.files import sample, write_json

if TYPE_CHECKING:
    import aiohttp

LICENCES = {
    "aclanthology.org": "CC BY 4.0 (since 2016; earlier CC BY-NC-SA 3.0)",
    "openreview.net": "CC BY 4.0 unless the paper says otherwise",
    "arxiv.org": "as chosen by the authors, see the paper's abstract page; often no right to redistribute",
}
UNKNOWN = "unknown: look at the publisher's page"
Progress = Callable[[str, int, int], None]


class DownloadSettings(Frozen):
    """How gently: `per_host` at a time, `delay_seconds` between two starts on a host.

    `error_share`: `download_all` fails when more of the papers than this share could not be had.
    """

    per_host: int = Field(2, ge=1, le=8)
    delay_seconds: float = Field(1.0, ge=0)
    retries: int = Field(3, ge=0)
    seconds: float = Field(120.0, gt=0)  # for one try of one file
    largest_bytes: int = Field(200_000_000, gt=0)
    user_agent: str = "vivavoce (reads papers for evaluation; identifies itself)"
    error_share: float = Field(0.05, ge=0, le=1)


class Failure(NamedTuple):
    """A paper whose PDF could not be had, and why."""

    paper: str
    url: str
    reason: str


class _Refused(Exception):  # noqa: N818 the server's answer, not an error of ours
    def __init__(self, reason: str, *, again: float | None = None) -> None:
        super().__init__(reason)
        self.again = again  # seconds after which another try makes sense; None: never


async def download(
    entries: Iterable[Entry], folder: Path, settings: DownloadSettings, progress: Progress | None = None
) -> list[Failure]:
    """Fetch `<folder>/<paper id>.pdf` for all entries with a URL; returns those that failed, sorted by paper id.

    A file that is there with the digest noted in `downloads.json`, or without a note (your own), is not fetched again; a
    `.part` file is resumed if the server can.
    """
    import aiohttp

    folder.mkdir(parents=True, exist_ok=True)
    ledger_file = folder / "downloads.json"
    ledger: dict[str, Any] = json.loads(ledger_file.read_text("utf-8")) if ledger_file.is_file() else {}
    wanted = sorted((entry for entry in entries if entry.pdf_url), key=lambda entry: entry.id)
    todo = [entry for entry in wanted if not _held(folder / f"{entry.id}.pdf", ledger.get(entry.id))]
    gates: dict[str, _Gate] = {}
    failures: list[Failure] = []
    done = len(wanted) - len(todo)

    async def one(session: aiohttp.ClientSession, entry: Entry) -> None:
        nonlocal done
        host = urlsplit(entry.pdf_url).hostname or ""
        gate = gates.setdefault(host, _Gate(settings.per_host, settings.delay_seconds))
        try:
            ledger[entry.id] = await _fetch(session, gate, entry, folder, settings)
            write_json(ledger_file, ledger)
        except _Refused as refusal:
            failures.append(Failure(entry.id, entry.pdf_url, str(refusal)))
        done += 1
        if progress:
            progress("download", done, len(wanted))

    headers = {"User-Agent": settings.user_agent}
    async with aiohttp.ClientSession(headers=headers, auto_decompress=False) as session:
        await asyncio.gather(*(one(session, entry) for entry in todo))
    return sorted(failures)


def download_all(
    entries: Iterable[Entry], folder: Path, settings: DownloadSettings, progress: Progress | None = None
) -> list[Failure]:
    """`download` to its end; DataError when more than `settings.error_share` of the papers failed. What came is kept."""
    wanted = [entry for entry in entries if entry.pdf_url]
    failures = asyncio.run(download(wanted, folder, settings, progress))
    if len(failures) > settings.error_share * len(wanted):
        reasons = sample(sorted({failure.reason for failure in failures}))
        raise DataError(
            f"{folder}: {len(failures)} of {len(wanted)} PDFs could not be fetched ({reasons}). Run again to go on, put the "
            "files there yourself as <paper id>.pdf, or raise download.error_share in conf/corpus/."
        )
    return failures


class _Gate:
    """At most so many at a time on one host, and a pause between two starts."""

    def __init__(self, limit: int, delay: float) -> None:
        self.slots = asyncio.Semaphore(limit)
        self._delay = delay
        self._turn = asyncio.Lock()

    async def start(self) -> None:
        async with self._turn:
            await asyncio.sleep(self._delay)


async def _fetch(
    session: aiohttp.ClientSession, gate: _Gate, entry: Entry, folder: Path, settings: DownloadSettings
) -> dict[str, Any]:
    import aiohttp

    if urlsplit(entry.pdf_url).scheme not in ("http", "https"):
        raise _Refused("not an http(s) URL")
    part = folder / f"{entry.id}.pdf.part"
    for attempt in range(settings.retries + 1):
        async with gate.slots:
            await gate.start()
            try:
                async with asyncio.timeout(settings.seconds):
                    await _try(session, entry.pdf_url, part, settings)
                break
            except _Refused as refusal:
                again, reason = refusal.again, str(refusal)
            except (aiohttp.ClientError, TimeoutError, OSError) as error:
                again, reason = 0.5 * 2**attempt, f"{type(error).__name__}: {error}"
        if again is None or attempt == settings.retries:
            raise _Refused(reason)
        await asyncio.sleep(min(again, 60.0))
    content = part.read_bytes()
    if not content[:1024].lstrip().startswith(b"%PDF"):
        part.unlink()
        raise _Refused("what came is no PDF (a page of the publisher?)")
    part.replace(folder / f"{entry.id}.pdf")
    host = (urlsplit(entry.pdf_url).hostname or "").removeprefix("www.")
    return {
        "url": entry.pdf_url,
        "sha256": hashlib.sha256(content).hexdigest(),
        "bytes": len(content),
        "licence": LICENCES.get(host, UNKNOWN),
    }


async def _try(session: aiohttp.ClientSession, url: str, part: Path, settings: DownloadSettings) -> None:
    have = part.stat().st_size if part.is_file() else 0
    headers = {"Range": f"bytes={have}-"} if have else {}
    async with session.get(url, headers=headers) as reply:
        if reply.status == 416:  # the part is as long as the file, or longer: start anew
            part.unlink(missing_ok=True)
            raise _Refused("the server does not continue the file", again=0.0)
        if reply.status in (429, 503):
            after = reply.headers.get("Retry-After", "")
            raise _Refused(f"the server asks to wait ({reply.status})", again=float(after) if after.isdigit() else 5.0)
        if reply.status >= 500:
            raise _Refused(f"the server answered {reply.status}", again=1.0)
        if reply.status not in (200, 206):
            raise _Refused(f"the server answered {reply.status}")
        size = have if reply.status == 206 else 0
        with part.open("ab" if size else "wb") as stream:
            async for block in reply.content.iter_chunked(1 << 16):
                size += len(block)
                if size > settings.largest_bytes:
                    raise _Refused(f"larger than {settings.largest_bytes} bytes")
                stream.write(block)


def _held(file: Path, known: dict[str, Any] | None) -> bool:
    if not file.is_file():
        return False
    return known is None or hashlib.sha256(file.read_bytes()).hexdigest() == known.get("sha256")
