"""Reading and writing result files: atomic, streamed, with errors that name file and line."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from io import BufferedReader
from pathlib import Path
from typing import IO, Any, TypeVar

import msgspec

from vivavoce.errors import DataError

T = TypeVar("T")


@contextlib.contextmanager
def atomic(path: Path, mode: str = "w") -> Iterator[IO[Any]]:
    """Open a temporary file beside `path` that replaces it when the block ends without an error."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    part = Path(name)
    try:
        with os.fdopen(
            descriptor, mode, encoding=None if "b" in mode else "utf-8", newline=None if "b" in mode else ""
        ) as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        part.chmod(0o644)
        part.replace(path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            part.unlink()
        raise


def write_text(path: Path, text: str) -> None:
    """Replace `path` by `text` (UTF-8, newlines as given)."""
    with atomic(path) as stream:
        stream.write(text)


def write_json(path: Path, value: Any) -> None:
    """Replace `path` by `value` as indented JSON with sorted keys."""
    write_text(path, json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n")


def write_records(path: Path, records: Iterable[Any]) -> int:
    """Replace `path` by one JSON line a record, streamed; returns how many."""
    encoder = msgspec.json.Encoder()
    count = 0
    with atomic(path, "wb") as stream:
        for record in records:
            stream.write(encoder.encode(record) + b"\n")
            count += 1
    return count


def read_records(path: Path, kind: type[T]) -> Iterator[T]:
    """Yield the records of a JSONL file. A malformed line is a DataError that names file and line."""
    decoder = msgspec.json.Decoder(kind)
    with _open(path) as stream:
        for number, line in enumerate(stream, 1):
            if not line.strip():
                continue
            try:
                yield decoder.decode(line)
            except msgspec.MsgspecError as error:
                raise DataError(
                    f"{path}:{number}: not a valid {kind.__name__} line: {error}. Expected one JSON object a line; "
                    "delete the file to have its step made again."
                ) from None


def by_id(records: Iterable[T], key: str, source: Path | str) -> dict[str, T]:
    """Index records by an id field; a duplicate id is a DataError that names it."""
    index: dict[str, T] = {}
    duplicates = []
    for record in records:
        identity = getattr(record, key)
        if identity in index:
            duplicates.append(identity)
        index[identity] = record
    if duplicates:
        raise DataError(f"{source}: {len(duplicates)} duplicate {key}(s): {sample(duplicates)}. Each id must stand once.")
    return index


def sample(ids: Iterable[str], most: int = 5) -> str:
    """Some ids for a message: sorted, the first few, and how many more."""
    known = sorted(set(ids))
    rest = f" and {len(known) - most} more" if len(known) > most else ""
    return ", ".join(known[:most]) + rest


def sha256(path: Path) -> str:
    """Hex digest of a file, streamed."""
    with _open(path) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def canonical(value: Any) -> str:
    """JSON with sorted keys and normalised numbers (1.0 is 1): equal values give equal text."""
    return json.dumps(_normal(value), sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def digest(value: Any) -> str:
    """Hex sha256 of `canonical(value)`."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def _normal(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _normal(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_normal(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _open(path: Path) -> BufferedReader:
    try:
        return path.open("rb")
    except FileNotFoundError:
        raise DataError(f"{path}: no such file. It is made by an earlier step: run snakemake again.") from None
