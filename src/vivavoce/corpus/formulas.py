"""Displayed equations: the pieces around a number at the margin such as (3), and their text in one line.

What a PDF holds is glyphs in places, not LaTeX: `(a + b)/(c) (3)` stands for a fraction, and small raised or lowered letters
follow what they stand beside.
"""

from __future__ import annotations

import re

from vivavoce.corpus.fragments import Box, Fragment, around

NUMBERED = re.compile(r"^\(\d{1,3}[a-z]?\)$")


def gather(rows: list[list[Fragment]], left: float) -> list[list[Fragment]]:
    """Join the rows of each numbered equation to one that ends with its number.

    `rows` are the printed lines of a column from top to bottom, `left` is where the column begins. Rows that begin there are
    prose.
    """
    joined: list[list[Fragment]] = []
    taken: set[int] = set()
    for place, row in enumerate(rows):
        if not NUMBERED.match(row[-1].text):
            continue
        number = row[-1]
        height = number.box[3] - number.box[1]
        near = [p for p in range(max(0, place - 3), min(len(rows), place + 4)) if p not in taken]
        parts = [
            p
            for p in near
            if p == place
            or (
                around(f.box for f in rows[p])[3] > number.box[1] - 0.9 * height
                and around(f.box for f in rows[p])[1] < number.box[3] + 0.9 * height
                and rows[p][0].box[0] > left + 1.5 * height
                and not NUMBERED.match(rows[p][-1].text)
            )
        ]
        pieces = [f for p in parts for f in rows[p] if f is not number]
        if (
            pieces
            and min(f.box[0] for f in pieces) > left + 0.8 * height
            and number.box[0] - max(f.box[2] for f in pieces) > height
        ):
            taken.update(parts)
            joined.append([*sorted(pieces, key=lambda f: f.box[0]), number])
    kept = [row for place, row in enumerate(rows) if place not in taken]
    return sorted(kept + joined, key=lambda row: (row[-1].box[3], row[0].box[0]))


def is_equation(row: list[Fragment]) -> bool:
    """Whether a row from `gather` is an equation: its last piece is a number set apart."""
    return len(row) > 1 and bool(NUMBERED.match(row[-1].text)) and row[-1].box[0] - row[-2].box[2] > row[-1].size


def formula_text(row: list[Fragment], bars: list[Box]) -> str:
    """An equation in one line, from left to right; what stands over and under a fraction bar becomes `(over)/(under)`."""
    *pieces, number = row
    whole = around(f.box for f in pieces)
    flat = [bar for bar in bars if bar[2] - bar[0] > 3 and bar[3] - bar[1] < 3]
    inside = [b for b in flat if whole[0] - 15 <= b[0] and b[2] <= whole[2] + 15 and whole[1] <= b[1] and b[3] <= whole[3]]
    items: list[tuple[float, str]] = []
    for bar in sorted(inside, key=lambda b: b[0]):
        stack = [
            f for f in pieces if bar[0] - 2 <= (f.box[0] + f.box[2]) / 2 <= bar[2] + 2 and f.box[3] - f.box[1] < 2 * f.size
        ]
        over = [f for f in stack if (f.box[1] + f.box[3]) / 2 < bar[1]]
        under = [f for f in stack if (f.box[1] + f.box[3]) / 2 >= bar[1]]
        if over and under:
            items.append((bar[0], f"({_row(over)})/({_row(under)})"))
            pieces = [f for f in pieces if f not in stack]
    items += [(f.box[0], f.text) for f in pieces]
    return " ".join([*(text for _, text in sorted(items)), number.text])


def _row(pieces: list[Fragment]) -> str:
    return " ".join(f.text for f in sorted(pieces, key=lambda f: f.box[0]))
