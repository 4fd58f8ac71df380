"""Catalogues: what is known of papers besides their PDFs.

Sources: a JSON list (`papers.json`), a JSONL file, a folder of JSON files, or a .tar.gz of them, such as the published ACL
metadata (OpenDFM/NeuSym-RAG@247b9215, `data/dataset/airqa/metadata/*.json`). Archives are streamed; nothing is unpacked to
disk.
"""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

import msgspec

from vivavoce.corpus.ids import paper_id
from vivavoce.errors import DataError
from vivavoce.files import sample

_LARGEST = 64 * 2**20  # bytes of one JSON file


class Entry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A paper's metadata. `pdf` is the file's name, `pdf_url` where it can be had."""

    id: str
    title: str
    abstract: str = ""
    authors: tuple[str, ...] = ()
    venue: str = ""
    conference_full: str = ""
    year: int | None = None
    volume: str = ""
    num_pages: int | None = None
    bibtex: str = ""
    pdf: str = ""
    pdf_url: str = ""


_ALIASES = {"uuid": "id", "conference": "venue", "pdf_path": "pdf"}  # AirQA-Real's names (spec 1.5) -> ours


class _Raw(msgspec.Struct):
    title: Annotated[str, msgspec.Meta(min_length=1)]
    id: str | None = None
    abstract: str | None = None
    authors: tuple[str, ...] | None = None
    venue: str | None = None
    conference_full: str | None = None
    year: int | None = None
    volume: str | None = None
    num_pages: int | None = None
    bibtex: str | None = None
    pdf: str | None = None
    pdf_url: str | None = None


def read_catalogue(path: Path) -> list[Entry]:
    """The entries of a catalogue, sorted by id.

    An entry without an id gets the published one (`ids.paper_id`). DataError names a file that is no catalogue, an entry
    without a title, and ids that stand twice.
    """
    entries: dict[str, Entry] = {}
    twice = []
    for where, value in _values(path):
        entry = _entry(where, value)
        if entry.id in entries:
            twice.append(entry.id)
        entries[entry.id] = entry
    if twice:
        raise DataError(f"{path}: {len(twice)} paper id(s) stand twice: {sample(twice)}. Each paper must stand once.")
    if not entries:
        raise DataError(f"{path}: no papers in it. Expected a JSON list, JSONL, a folder of .json files or a .tar.gz of them.")
    return [entries[identity] for identity in sorted(entries)]


def _entry(where: str, value: Any) -> Entry:
    named = {_ALIASES.get(key, key): item for key, item in value.items()} if isinstance(value, dict) else value
    try:
        raw = msgspec.convert(named, _Raw)
    except msgspec.ValidationError as error:
        raise DataError(f"{where}: not a paper: {error}. Expected an object with at least a title.") from None
    fields = {key: item for key, item in msgspec.structs.asdict(raw).items() if item is not None}
    fields["pdf"] = PurePosixPath(raw.pdf or "").name
    fields["id"] = raw.id or paper_id(raw.title, raw.venue or "", raw.year)
    return Entry(**fields)


def _values(path: Path) -> Iterator[tuple[str, Any]]:
    if path.is_dir():
        for file in sorted(path.rglob("*.json")):
            yield from _decoded(str(file), file.read_bytes())
    elif path.name.endswith((".tar.gz", ".tgz", ".tar")):
        yield from _archived(path)
    elif path.suffix == ".jsonl":
        for number, line in enumerate(_bytes(path).splitlines(), 1):
            if line.strip():
                yield from _decoded(f"{path}:{number}", line)
    else:
        yield from _decoded(str(path), _bytes(path))


def _archived(path: Path) -> Iterator[tuple[str, Any]]:
    try:
        with tarfile.open(path, "r|*") as archive:
            for member in archive:
                if member.isfile() and member.name.endswith(".json") and member.size <= _LARGEST:
                    stream = archive.extractfile(member)
                    yield from _decoded(f"{path}!{member.name}", stream.read() if stream else b"")
    except FileNotFoundError:
        raise _missing(path) from None
    except (tarfile.TarError, EOFError, OSError) as error:
        raise DataError(f"{path}: not a readable archive: {error}. Delete it to have it fetched again.") from None


def _decoded(where: str, text: bytes) -> Iterator[tuple[str, Any]]:
    try:
        value = msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        raise DataError(f"{where}: not JSON: {error}. Expected a paper or a list of papers.") from None
    for number, item in enumerate(value) if isinstance(value, list) else [(None, value)]:
        yield where if number is None else f"{where}[{number}]", item


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise _missing(path) from None


def _missing(path: Path) -> DataError:
    return DataError(
        f"{path}: no such catalogue. Expected a .json, .jsonl or .tar.gz file or a folder; run the fetch step first."
    )
