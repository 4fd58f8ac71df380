"""Tables of another kind than rows by measures: laid out by the function that `make` of a conf/table/*.yaml names.

It is called with a `Material` and returns a `Listing`; a table may read rollouts or judgements besides measures.csv.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from pydantic import BaseModel, ValidationError

from vivavoce.errors import ConfigError
from vivavoce.grading.base import MeasureSpec
from vivavoce.records import Measure

TEX = str.maketrans({c: rf"\{c}" for c in "&%$#_{}"} | {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "·": r"$\cdot$"})
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
        try:
            return options(**self.options)
        except ValidationError as error:
            keys = "; ".join(f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in error.errors())
            raise ConfigError(f"table '{self.title}': options: {keys}.") from None


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
    right = _right(listing)
    lines = [[heading.label for heading in listing.headings], *_shown(listing)]
    notes = "".join(f"\n* {note}" for note in listing.notes)
    widths = [max(len(line[index]) for line in lines) for index in range(len(right))]
    rule = ["-" * (width - 1) + ":" if place else "-" * width for width, place in zip(widths, right, strict=True)]
    body = [[t.rjust(w) if p else t.ljust(w) for t, w, p in zip(line, widths, right, strict=True)] for line in lines]
    text = "\n".join("| " + " | ".join(line) + " |" for line in (body[0], rule, *body[1:]))
    return f"**{listing.title}**\n\n{text}\n" + (f"{notes}\n" if notes else "")


def comma_separated(listing: Listing) -> str:
    """Labels, then one line a row."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([heading.label for heading in listing.headings])
    for row in listing.rows:
        writer.writerow(["" if value is None else f"{value:.9g}" if isinstance(value, float) else value for value in row])
    return stream.getvalue()


def latex(listing: Listing) -> str:
    """A table environment for booktabs, complete with caption."""
    heading, *body = [
        " & ".join(text.translate(TEX) for text in line) + r" \\"
        for line in ([heading.label for heading in listing.headings], *_shown(listing))
    ]
    places = "".join("r" if right else "l" for right in _right(listing))
    caption = " ".join([f"{listing.title}.", *listing.notes]).translate(TEX)
    return "\n".join(
        [
            "% needs \\usepackage{booktabs}",
            r"\begin{table}",
            r"\centering",
            rf"\begin{{tabular}}{{{places}}}",
            r"\toprule",
            heading,
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            rf"\caption{{{caption}}}",
            r"\end{table}",
            "",
        ]
    )


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
