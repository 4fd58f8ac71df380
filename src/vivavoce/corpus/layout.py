"""From scattered fragments to paragraphs in reading order, for pages of one or two columns."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

from vivavoce.corpus.formulas import formula_text, gather, is_equation
from vivavoce.corpus.fragments import Box, Fragment, Sheet, around

CAPTION = re.compile(r"^(Table|Figure|Fig\.?)\s*((?:[A-Z]\.?)?\d+)\s*([:.])\s*(?=\S)")
_HEADING = re.compile(r"^(?:\d{1,2}(?:\.\d{1,2}){0,3}\.?|[A-H](?:\.\d{1,2}){0,3}\.?|Appendix [A-H]\.?)\s+\S.{0,98}$")
_LEADERS = re.compile(r"(?:\.\s?){4,}")  # the dots of a table of contents
_NAMED = re.compile(
    r"^(?:\d{1,2}\.?\s+)?(abstract|introduction|related work|background|methods?|experiments?|results|discussion|"
    r"limitations|conclusions?|"
    r"acknowledge?ments?|ethic\w* (?:statement|considerations)|references|bibliography|appendix|appendices)[.:]?$",
    re.IGNORECASE,
)


class Line(NamedTuple):
    """One printed line within a column."""

    text: str
    box: Box
    size: float
    bold: bool
    column: int  # 0: across the page or the only one, 1: left, 2: right
    left: float  # where the column begins
    equation: bool  # ends with a number set apart, such as (3)


class Paragraph(NamedTuple):
    """Lines that belong together. `kind`: body, heading, caption or equation."""

    text: str
    kind: str
    lines: tuple[Line, ...]

    @property
    def box(self) -> Box:
        return around(line.box for line in self.lines)


def body_size(sheets: Iterable[Sheet]) -> float:
    """The letter height that most of a paper's letters have, in points (0 without text)."""
    weights: dict[float, int] = {}
    for sheet in sheets:
        for fragment in sheet.fragments:
            key = round(fragment.size, 1)
            weights[key] = weights.get(key, 0) + len(fragment.text)
    return max(sorted(weights), key=lambda size: weights[size], default=0.0)


def without_running(sheets: list[Sheet]) -> list[Sheet]:
    """Leave out running heads and feet: what stands in the margins of at least half of the pages (and two), numbers aside."""

    def marginal(sheet: Sheet, piece: Fragment) -> bool:
        return piece.box[3] < 0.08 * sheet.height or piece.box[1] > 0.91 * sheet.height

    def shape(piece: Fragment) -> str:
        return re.sub(r"\d+", "#", piece.text)

    pages: dict[str, set[int]] = {}
    for number, sheet in enumerate(sheets):
        for piece in sheet.fragments:
            if marginal(sheet, piece):
                pages.setdefault(shape(piece), set()).add(number)
    running = {text for text, where in pages.items() if len(where) >= max(2, len(sheets) / 2)}
    return [
        sheet._replace(
            fragments=[piece for piece in sheet.fragments if not (marginal(sheet, piece) and shape(piece) in running)]
        )
        for sheet in sheets
    ]


def gutter(sheet: Sheet) -> float | None:
    """Where two columns part, or None: the line near the middle that the least text crosses, with text side by side."""
    pieces = [fragment for fragment in sheet.fragments if len(fragment.text) > 2]
    if len(pieces) < 8:
        return None
    x0, _, x1, _ = around(piece.box for piece in pieces)
    total = sum(_area(piece) for piece in pieces)
    best: tuple[float, float] | None = None
    for step in range(41):
        x = x0 + (x1 - x0) * (0.35 + 0.3 * step / 40)
        crossing = sum(_area(piece) for piece in pieces if piece.box[0] < x - 1 and piece.box[2] > x + 1)
        key = (crossing, abs(x - (x0 + x1) / 2))
        if best is None or key < best:
            best, where = key, x
    if best is None or best[0] > 0.5 * total:
        return None
    left = sum(_area(piece) for piece in pieces if piece.box[2] <= where + 1)
    right = sum(_area(piece) for piece in pieces if piece.box[0] >= where - 1)
    # Cells of a table beside one another are no columns: columns hold long lines on both sides.
    long = [piece for piece in pieces if piece.box[2] - piece.box[0] > 0.3 * (x1 - x0) and not _crosses(piece.box, where)]
    return where if min(left, right) > 0.08 * total and len(long) >= 4 else None


def _area(piece: Fragment) -> float:
    return (piece.box[2] - piece.box[0]) * piece.size


def _crosses(box: Box, x: float) -> bool:
    return box[0] < x - 1 and box[2] > x + 1


def ordered_lines(sheet: Sheet) -> list[Line]:
    """A page's lines in reading order: bands between what spans both columns; in a band first left, then right."""
    where = gutter(sheet)
    pieces = [piece for piece in sheet.fragments if not _page_number(piece, sheet)]
    if where is None:
        return _lines(pieces, 0, sheet.rules)
    spanning = _lines([piece for piece in pieces if _crosses(piece.box, where)], 0, sheet.rules)
    sides = [
        _lines([piece for piece in pieces if piece.box[2] <= where + 1], 1, sheet.rules),
        _lines([piece for piece in pieces if piece.box[0] >= where - 1 and piece.box[2] > where + 1], 2, sheet.rules),
    ]
    ordered: list[Line] = []
    for stop in [*spanning, None]:
        for side in sides:
            while side and (stop is None or _middle(side[0].box) < _middle(stop.box)):
                ordered.append(side.pop(0))
        if stop:
            ordered.append(stop)
    return ordered


def _middle(box: Box) -> float:
    return (box[1] + box[3]) / 2


def _page_number(piece: Fragment, sheet: Sheet) -> bool:
    return (
        piece.text.isdigit()
        and len(piece.text) <= 5
        and (piece.box[1] > 0.92 * sheet.height or piece.box[3] < 0.06 * sheet.height)
    )


def _lines(pieces: list[Fragment], column: int, rules: list[Box]) -> list[Line]:
    left = min((piece.box[0] for piece in pieces), default=0.0)
    lines = []
    for row in gather(baselines(pieces), left):
        size = max(piece.size for piece in row)
        equation = is_equation(row)
        text = formula_text(row, rules) if equation else " ".join(piece.text for piece in row)
        lines.append(Line(text, around(piece.box for piece in row), size, row[0].bold, column, left, equation))
    return lines


def baselines(pieces: list[Fragment]) -> list[list[Fragment]]:
    """Fragments grouped by printed line, top to bottom, each from left to right."""
    rows: list[list[Fragment]] = []
    for piece in sorted(pieces, key=lambda p: (p.box[3], p.box[0])):
        last = around(p.box for p in rows[-1]) if rows else None
        height = piece.box[3] - piece.box[1]
        if last and min(last[3], piece.box[3]) - max(last[1], piece.box[1]) > 0.55 * min(height, last[3] - last[1]):
            rows[-1].append(piece)
        else:
            rows.append([piece])
    return [sorted(row, key=lambda p: p.box[0]) for row in rows]


def paragraphs(lines: list[Line], body: float) -> list[Paragraph]:
    """Group lines in reading order; `body` is the paper's usual letter height."""
    groups: list[list[Line]] = []
    for last, line in pairwise([None, *lines]):
        assert line is not None
        if last is None or _begins(last, line, body):
            groups.append([line])
        else:
            groups[-1].append(line)
    return [Paragraph(joined(line.text for line in group), _kind(group, body), tuple(group)) for group in groups]


def _begins(last: Line, line: Line, body: float) -> bool:
    if line.equation or last.equation or is_heading(line, body) != is_heading(last, body):
        return True
    caption = CAPTION.match(line.text)
    if caption and caption[3] == ":":
        return True
    if line.column != last.column or line.box[1] < last.box[1] - line.size:
        return not (line.text[:1].islower() and last.text[-1:] not in ".:?!")
    size = max(line.size, last.size)
    return (
        line.box[1] - last.box[3] > 0.45 * size
        or abs(line.size - last.size) > 0.12 * size
        or (line.box[0] - last.box[0] > 0.7 * size and line.box[0] - line.left < 3 * size and last.text[-1:] in ".:?!")
    )


def is_heading(line: Line, body: float) -> bool:
    """A numbered or well-known title that stands out by weight or size, or a well-known one alone on its line."""
    if len(line.text) > 100 or line.equation or _LEADERS.search(line.text):
        return False
    stands_out = line.bold or line.size > 1.07 * body
    if _NAMED.match(line.text):
        return stands_out or line.text[:1].isupper()
    return stands_out and bool(_HEADING.match(line.text)) and not line.text.endswith((".", ",", ";"))


def _kind(group: list[Line], body: float) -> str:
    if group[-1].equation:
        return "equation"
    if all(is_heading(line, body) for line in group[:1]):
        return "heading"
    return "caption" if CAPTION.match(group[0].text) else "body"


def joined(texts: Iterable[str]) -> str:
    """Lines as one text: a word cut at a line's end is made whole."""
    text = ""
    for line in texts:
        if re.search(r"[A-Za-z]{2}-$", text) and re.match(r"[a-z]{2}", line):
            text = text[:-1] + line
        else:
            text = f"{text} {line}" if text else line
    return text
