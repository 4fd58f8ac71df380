"""Print a grid as Markdown, CSV or LaTeX (booktabs)."""

from __future__ import annotations

import msgspec

from vivavoce.tables import layout
from vivavoce.tables.grid import FAILURES, Cell, Grid, Row

PROFILES = {
    "as_published": "as published",
    "corrected": "corrected",
    "published": "published",
    "difference": "difference",
    "both": "both",
}


def markdown(grid: Grid) -> str:
    """An aligned Markdown table with its title and notes."""
    grid = _merged(grid)
    header = ["", "scorer", *_headings(grid), "failures"]
    lines = [header, *([row.label, PROFILES[row.profile], *_cells(grid, row), _failures(row)] for row in grid.rows)]
    right = [index > 1 for index in range(len(header))]
    return layout.markdown(grid.title, lines, right, grid.notes)


def comma_separated(grid: Grid) -> str:
    """One line a row: each column's value, interval ends and n, then a count of each failure."""
    fields = [f"{name}{suffix}" for name in grid.columns for suffix in ("", " low", " high", " n")]
    lines: list[list[object]] = [["row", "scorer", *fields, *FAILURES]]
    for row in grid.rows:
        numbers = [layout.plain(item) for cell in row.cells for item in (cell.value, cell.low, cell.high, cell.n)]
        lines.append([row.label, row.profile, *numbers, *(row.failures.get(kind, "") for kind in FAILURES)])
    return layout.comma_separated(lines)


def latex(grid: Grid) -> str:
    """A table environment for booktabs, complete with caption."""
    grid = _merged(grid)
    header = ["", "scorer", *_headings(grid), "failures"]
    body = []
    for index, row in enumerate(grid.rows):
        if index and (row.profile == "published") != (grid.rows[index - 1].profile == "published"):
            body.append(r"\midrule")
        body.append(layout.tex_line([row.label, PROFILES[row.profile], *_cells(grid, row), _failures(row)]))
    caption = f"{grid.title}. {' '.join(grid.notes)}"
    return layout.booktabs(caption, "ll" + "r" * len(grid.columns) + "l", layout.tex_line(header), body)


def _merged(grid: Grid) -> Grid:
    """The grid with one line where both scorers print the same: for readers, while CSV keeps each."""
    rows: list[Row] = []
    for row in grid.rows:
        last = rows[-1] if rows else None
        if (
            last is not None
            and (last.profile, row.profile) == ("as_published", "corrected")
            and (last.label, last.cells, last.failures) == (row.label, row.cells, row.failures)
        ):
            rows[-1] = msgspec.structs.replace(last, profile="both")
        else:
            rows.append(row)
    return msgspec.structs.replace(grid, rows=rows)


def _headings(grid: Grid) -> list[str]:
    """Column labels, with n where all rows share it."""
    headings = []
    for index, label in enumerate(grid.columns):
        shared = _shared_n(grid, index)
        headings.append(f"{label} (n={shared})" if shared is not None else label)
    return headings


def _shared_n(grid: Grid, index: int) -> int | None:
    counts = {row.cells[index].n for row in grid.rows if row.cells[index].n is not None}
    return counts.pop() if len(counts) == 1 else None


def _cells(grid: Grid, row: Row) -> list[str]:
    return [_show(cell, row, _shared_n(grid, index)) for index, cell in enumerate(row.cells)]


def _show(cell: Cell, row: Row, shared: int | None) -> str:
    if cell.value is None:
        return "-"
    sign = "+" if row.profile == "difference" and cell.value > 0 else ""
    text = f"{sign}{cell.value:.{cell.digits}f}"
    if cell.shown and cell.low is not None and cell.high is not None:
        text += f" [{cell.low:.{cell.digits}f}, {cell.high:.{cell.digits}f}]"
    return text + (f" n={cell.n}" if cell.n is not None and shared is None else "")


def _failures(row: Row) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in row.failures.items() if count) or ("-" if row.failures else "")
