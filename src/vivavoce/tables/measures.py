"""measures.csv: one line a value, in the order of `records.Measure`; values as fractions or raw numbers, not in percent."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

import msgspec

from vivavoce.errors import DataError
from vivavoce.files import atomic
from vivavoce.records import Measure

FIELDS = Measure.__struct_fields__


def write_measures(path: Path, measures: Iterable[Measure]) -> int:
    """Write measures sorted by row, profile, measure, slice and policy; returns how many."""
    lines = sorted([_text(getattr(item, name)) for name in FIELDS] for item in measures)
    with atomic(path) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(FIELDS)
        writer.writerows(lines)
    return len(lines)


def read_measures(path: Path) -> list[Measure]:
    """Read what `write_measures` wrote."""
    with path.open(encoding="utf-8", newline="") as stream:
        reader = csv.DictReader(stream)
        if tuple(reader.fieldnames or ()) != FIELDS:
            raise DataError(f"{path}:1: expected the columns {', '.join(FIELDS)}. Delete the file to have it made again.")
        return [msgspec.convert({name: text or None for name, text in line.items()}, Measure, strict=False) for line in reader]


def _text(value: object) -> str:
    return "" if value is None else repr(value) if isinstance(value, float) else str(value)
