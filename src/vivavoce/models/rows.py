"""The tables of a call store, and a finished call as a row.

The request stands last: it is the longest, and a look-up need not read past the response.
"""

from __future__ import annotations

import zlib
from typing import Any

import msgspec

SCHEMA = """
CREATE TABLE IF NOT EXISTS calls (
    key TEXT PRIMARY KEY, crc INTEGER NOT NULL, seconds REAL NOT NULL, finish TEXT NOT NULL, prompt_tokens INTEGER,
    completion_tokens INTEGER, time TEXT NOT NULL, response TEXT NOT NULL, request TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS images (digest TEXT PRIMARY KEY, base64 TEXT NOT NULL);
"""
INSERT = "INSERT OR REPLACE INTO calls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
INSERT_IMAGE = "INSERT OR IGNORE INTO images VALUES (?, ?)"


class Finished(msgspec.Struct, frozen=True, kw_only=True):
    """A call to be stored. Never holds a key of an API: neither the request's record nor a response has headers."""

    key: str
    request: bytes
    response: bytes
    seconds: float
    finish: str
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    images: dict[str, str] = {}


def as_row(call: Finished, time: str) -> tuple[Any, ...]:
    """A call as `INSERT` takes it; `crc` is the response's, and tells a damaged row."""
    return (
        call.key,
        zlib.crc32(call.response),
        call.seconds,
        call.finish,
        call.prompt_tokens,
        call.completion_tokens,
        time,
        call.response.decode(),
        call.request.decode(),
    )
