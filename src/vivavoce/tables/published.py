"""The papers' numbers, from the project's own copies of them (facts, with their source in each line)."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from importlib.resources import files

from vivavoce.config.table import Column, Published
from vivavoce.errors import ConfigError

FOLDER = "published"


def published_rows(block: Published, columns: list[Column]) -> Iterator[tuple[str, list[float | None]]]:
    """Rows of a published file in its order: (label, one value a column or None). An unknown file or key is a ConfigError."""
    resource = files("vivavoce.tables").joinpath(FOLDER, f"{block.file}.csv")
    try:
        lines = list(csv.DictReader(resource.read_text(encoding="utf-8").splitlines()))
    except FileNotFoundError:
        raise ConfigError(f"published file '{block.file}': no such file in vivavoce/tables/{FOLDER}/.") from None
    for key in (*block.where, *block.row, *(key for column in columns for key in column.published)):
        if key not in lines[0]:
            raise ConfigError(f"published file '{block.file}': no column '{key}'. Known: {', '.join(lines[0])}.")
    selected = [line for line in lines if _matches(line, block.where)]
    labels = dict.fromkeys(" · ".join(line[name] for name in block.row) for line in selected)
    for label in labels:
        own = [line for line in selected if " · ".join(line[name] for name in block.row) == label]
        values = [_value(own, column) for column in columns]
        if any(value is not None for value in values):
            yield label, values


def _value(lines: list[dict[str, str]], column: Column) -> float | None:
    if not column.published:
        return None
    found = [line["value"] for line in lines if _matches(line, column.published)]
    try:
        return float(found[0]) if found else None
    except ValueError:  # "NA", or a range: nothing that a cell could be compared with
        return None


def _matches(line: Mapping[str, str], where: Mapping[str, str | list[str]]) -> bool:
    return all(line[key] in (wanted if isinstance(wanted, list) else [wanted]) for key, wanted in where.items())
