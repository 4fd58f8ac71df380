"""Call stores as JSONL, to be shipped, merged and diffed: one line a call sorted by key, after the images they show."""

from __future__ import annotations

import gzip
import hashlib
import logging
import sqlite3
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec

from vivavoce.errors import DataError
from vivavoce.files import atomic, canonical, sample
from vivavoce.models.rows import INSERT, INSERT_IMAGE, Finished, as_row

Conflict = Literal["error", "keep", "replace"]
EVERYTHING = (
    "SELECT crc, key, request, response, seconds, finish, prompt_tokens, completion_tokens, time FROM calls ORDER BY key"
)

log = logging.getLogger(__name__)


class Line(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A call: `request` is what `key` is the digest of, `response` the server's own JSON."""

    key: str
    request: msgspec.Raw
    response: msgspec.Raw
    seconds: float
    finish: str
    prompt_tokens: int | None
    completion_tokens: int | None
    time: str


class Picture(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An image that requests name by its digest."""

    image: str
    base64: str


def write_lines(path: Path, connection: sqlite3.Connection) -> int:
    """Export an open store, streamed; returns how many calls."""
    encode = msgspec.json.Encoder().encode
    count = 0
    with atomic(path, "wb") as raw:
        # No name and no time in the gzip header, so that equal stores give equal bytes.
        stream = gzip.GzipFile("", "wb", 9, raw, mtime=0) if path.suffix == ".gz" else raw
        for digest, data in connection.execute("SELECT digest, base64 FROM images ORDER BY digest"):
            stream.write(encode(Picture(image=digest, base64=data)) + b"\n")
        for crc, key, request, response, seconds, finish, prompt_tokens, completion_tokens, time in connection.execute(
            EVERYTHING
        ):
            if not (isinstance(response, str) and zlib.crc32(response.encode()) == crc and isinstance(seconds, float)):
                log.warning("%s: the stored call %s is damaged and was left out", path, key)
                continue
            line = Line(
                key=key,
                request=msgspec.Raw(request.encode()),
                response=msgspec.Raw(msgspec.json.format(response.encode(), indent=-1)),  # a server may send several lines
                seconds=seconds,
                finish=finish,
                prompt_tokens=prompt_tokens,
                completion_tokens=completion_tokens,
                time=time,
            )
            stream.write(encode(line) + b"\n")
            count += 1
        if stream is not raw:
            stream.close()
    return count


def read_lines(path: Path) -> Iterator[Line | Picture]:
    """Read an export, streamed. DataError names the line that is none, or whose request does not give its key."""
    decode_line, decode_picture = msgspec.json.Decoder(Line).decode, msgspec.json.Decoder(Picture).decode
    try:
        with path.open("rb") as raw:
            stream = gzip.GzipFile(fileobj=raw) if path.suffix == ".gz" else raw
            for number, text in enumerate(stream, 1):
                if not text.strip():
                    continue
                try:
                    if text.startswith(b'{"image"'):
                        yield decode_picture(text)
                        continue
                    line = decode_line(text)
                except msgspec.MsgspecError as error:
                    raise DataError(f"{path}:{number}: not a recorded call: {error}. Export the store again.") from None
                if line.key not in (_sha(bytes(line.request)), _sha(canonical(msgspec.json.decode(line.request)).encode())):
                    raise DataError(f"{path}:{number}: the request was edited: it does not give the key {line.key}.")
                yield line
    except FileNotFoundError:
        raise DataError(f"{path}: no such file. Expected recorded calls (a JSONL export of a call store).") from None
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path}: cannot be read: {error}. Fetch or export it again.") from None


def merge(store: Path, source: Path, conflicts: Conflict) -> int:
    """Import an export into a store's file in one transaction; returns how many calls were new."""
    connection = sqlite3.connect(store, isolation_level=None, timeout=60)
    new, differing = 0, []
    try:
        connection.execute("BEGIN IMMEDIATE")
        for line in read_lines(source):
            if isinstance(line, Picture):
                connection.execute(INSERT_IMAGE, (line.image, line.base64))
                continue
            response = bytes(line.response)
            known = connection.execute("SELECT response FROM calls WHERE key = ?", (line.key,)).fetchone()
            if known is not None:
                if msgspec.json.decode(known[0]) == msgspec.json.decode(response):
                    continue
                differing.append(line.key)
                if conflicts != "replace":
                    continue
            new += known is None
            call = Finished(
                key=line.key,
                request=bytes(line.request),
                response=response,
                seconds=line.seconds,
                finish=line.finish,
                prompt_tokens=line.prompt_tokens,
                completion_tokens=line.completion_tokens,
            )
            connection.execute(INSERT, as_row(call, line.time))
        if differing and conflicts == "error":
            raise DataError(
                f"{source}: {len(differing)} call(s) are in {store} with another response: {sample(differing)}. Nothing was "
                "imported. Choose whose to take: --conflicts keep or --conflicts replace."
            )
        connection.execute("COMMIT")
    finally:
        connection.close()
    return new


def _sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
