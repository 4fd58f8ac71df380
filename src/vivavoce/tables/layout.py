"""How any table becomes text: aligned Markdown, CSV, and LaTeX for booktabs, from lines of printed cells."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

TEX = str.maketrans({c: rf"\{c}" for c in "&%$#_{}"} | {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "·": r"$\cdot$"})


def markdown(title: str, lines: Sequence[Sequence[str]], right: Sequence[bool], notes: Sequence[str]) -> str:
    """An aligned table with title and notes; the first line is the header, `right` says which columns are set to the right."""
    widths = [max(len(line[index]) for line in lines) for index in range(len(right))]
    rule = ["-" * (width - 1) + ":" if place else "-" * width for width, place in zip(widths, right, strict=True)]
    body = [[t.rjust(w) if p else t.ljust(w) for t, w, p in zip(line, widths, right, strict=True)] for line in lines]
    text = "\n".join("| " + " | ".join(line) + " |" for line in (body[0], rule, *body[1:]))
    below = "".join(f"\n* {note}" for note in notes)
    return f"**{title}**\n\n{text}\n" + (f"{below}\n" if below else "")


def comma_separated(lines: Iterable[Sequence[Any]]) -> str:
    """CSV with plain newlines."""
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(lines)
    return stream.getvalue()


def plain(value: Any) -> Any:
    """A value as CSV holds it: nothing for None, nine significant digits of a float, any other as it is."""
    return "" if value is None else f"{value:.9g}" if isinstance(value, float) else value


def tex_line(cells: Sequence[str]) -> str:
    """One escaped line of a tabular."""
    return " & ".join(cell.translate(TEX) for cell in cells) + r" \\"


def booktabs(caption: str, places: str, header: str, body: Sequence[str]) -> str:
    """A table environment from finished lines; `places` are the column types, `caption` is escaped here."""
    return "\n".join(
        [
            "% needs \\usepackage{booktabs}",
            r"\begin{table}",
            r"\centering",
            rf"\begin{{tabular}}{{{places}}}",
            r"\toprule",
            header,
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            rf"\caption{{{caption.translate(TEX)}}}",
            r"\end{table}",
            "",
        ]
    )
