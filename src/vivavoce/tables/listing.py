"""Tables of another kind than rows by measures: laid out by the function that `make` of a conf/table/*.yaml names.

It is called with a `Material` and returns a `Listing`; a table may read rollouts or judgements besides measures.csv.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from pydantic import BaseModel

from vivavoce.config.base import checked
from vivavoce.grading.base import MeasureSpec
from vivavoce.records import Measure
from vivavoce.tables import layout

T = TypeVar("T", bound=BaseModel)
Value = str | int | float | None


class Run(msgspec.Struct, frozen=True):
    """One row of the experiment and its files."""

    benchmark: str
    agent: str
    model: str
    judge: str
    seed: int
    questions: Path
    rollouts: Path
    judgements: Path


class Material(msgspec.Struct, frozen=True, kw_only=True):
    """What such a table is made from: the title and options of its configuration, measures, runs, and processes to use."""

    title: str
    options: Mapping[str, Any]
    notes: Sequence[str]
    measures: Sequence[Measure]
    specs: Mapping[str, Mapping[str, MeasureSpec]]
    runs: Sequence[Run]
    threads: int = 1

    def checked(self, options: type[T]) -> T:
        """The table's options by the model of who lays it out. Raises ConfigError that names the keys."""
        return checked(options, self.options, f"table '{self.title}'")


class Heading(msgspec.Struct, frozen=True):
    """A column: its label, and how many decimals Markdown and LaTeX print of its numbers (CSV has nine digits)."""

    label: str
    digits: int = 1
    signed: bool = False


class Listing(msgspec.Struct, frozen=True):
    """Headings, rows of as many values (None: nothing to say), notes."""

    title: str
    headings: Sequence[Heading]
    rows: Sequence[Sequence[Value]]
    notes: Sequence[str] = ()


def markdown(listing: Listing) -> str:
    """An aligned Markdown table with its title and notes; columns that hold numbers are set to the right."""
    lines = [[heading.label for heading in listing.headings], *_shown(listing)]
    return layout.markdown(listing.title, lines, _right(listing), listing.notes)


def comma_separated(listing: Listing) -> str:
    """Labels, then one line a row."""
    labels = [heading.label for heading in listing.headings]
    return layout.comma_separated([labels, *([layout.plain(value) for value in row] for row in listing.rows)])


def latex(listing: Listing) -> str:
    """A table environment for booktabs, complete with caption."""
    header = layout.tex_line([heading.label for heading in listing.headings])
    places = "".join("r" if right else "l" for right in _right(listing))
    caption = " ".join([f"{listing.title}.", *listing.notes])
    return layout.booktabs(caption, places, header, [layout.tex_line(line) for line in _shown(listing)])


def _right(listing: Listing) -> list[bool]:
    return [any(isinstance(row[index], (int, float)) for row in listing.rows) for index in range(len(listing.headings))]


def _shown(listing: Listing) -> list[list[str]]:
    return [[_show(value, heading) for value, heading in zip(row, listing.headings, strict=True)] for row in listing.rows]


def _show(value: Value, heading: Heading) -> str:
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    sign = "+" if heading.signed else ""
    return f"{value:{sign}.{heading.digits}f}" if isinstance(value, float) else f"{value:{sign}d}"
