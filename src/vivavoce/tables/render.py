"""Print a grid as Markdown, CSV or LaTeX (booktabs)."""

from __future__ import annotations

import csv
import io

import msgspec

from vivavoce.tables.grid import FAILURES, Cell, Grid, Row

PROFILES = {
    "as_published": "as published",
    "corrected": "corrected",
    "published": "published",
    "difference": "difference",
    "both": "both",
}
_TEX = str.maketrans(
    {c: rf"\{c}" for c in "&%$#_{}"} | {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "·": r"$\cdot$"}
)


def markdown(grid: Grid) -> str:
    """An aligned Markdown table with its title and notes."""
    grid = _merged(grid)
    header = ["", "scorer", *_headings(grid), "failures"]
    lines = [header, *([row.label, PROFILES[row.profile], *_cells(grid, row), _failures(row)] for row in grid.rows)]
    widths = [max(len(line[index]) for line in lines) for index in range(len(header))]
    rule = [("-" * width if index < 2 else "-" * (width - 1) + ":") for index, width in enumerate(widths)]
    body = [_align(lines[0], widths), "| " + " | ".join(rule) + " |", *(_align(line, widths) for line in lines[1:])]
    notes = "".join(f"\n* {note}" for note in grid.notes)
    return f"**{grid.title}**\n\n" + "\n".join(body) + "\n" + (f"{notes}\n" if notes else "")


def comma_separated(grid: Grid) -> str:
    """One line a row: each column's value, interval ends and n, then a count of each failure."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    fields = [f"{name}{suffix}" for name in grid.columns for suffix in ("", " low", " high", " n")]
    writer.writerow(["row", "scorer", *fields, *FAILURES])
    for row in grid.rows:
        numbers = [_plain(item) for cell in row.cells for item in (cell.value, cell.low, cell.high, cell.n)]
        writer.writerow([row.label, row.profile, *numbers, *(row.failures.get(kind, "") for kind in FAILURES)])
    return stream.getvalue()


def latex(grid: Grid) -> str:
    """A table environment for booktabs, complete with caption."""
    grid = _merged(grid)
    header = ["", "scorer", *_headings(grid), "failures"]
    body = []
    for index, row in enumerate(grid.rows):
        if index and (row.profile == "published") != (grid.rows[index - 1].profile == "published"):
            body.append(r"\midrule")
        body.append(_tex([row.label, PROFILES[row.profile], *_cells(grid, row), _failures(row)]))
    notes = " ".join(note.translate(_TEX) for note in grid.notes)
    return "\n".join(
        [
            "% needs \\usepackage{booktabs}",
            r"\begin{table}",
            r"\centering",
            r"\begin{tabular}{ll" + "r" * len(grid.columns) + "l}",
            r"\toprule",
            _tex(header),
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            rf"\caption{{{grid.title.translate(_TEX)}. {notes}}}",
            r"\end{table}",
            "",
        ]
    )


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


def _align(line: list[str], widths: list[int]) -> str:
    padded = [
        text.ljust(width) if index < 2 else text.rjust(width)
        for index, (text, width) in enumerate(zip(line, widths, strict=True))
    ]
    return "| " + " | ".join(padded) + " |"


def _tex(cells: list[str]) -> str:
    return " & ".join(cell.translate(_TEX) for cell in cells) + r" \\"


def _plain(value: float | None) -> str:
    return "" if value is None else f"{value:.9g}"
