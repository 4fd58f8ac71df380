"""Tables and figures: what a caption names, found by the lines and pictures near it."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any, NamedTuple

from vivavoce.corpus.fragments import Box, Fragment, Sheet, around
from vivavoce.corpus.layout import CAPTION, Paragraph, baselines

_NEAR = 40.0  # points between a caption and its table or figure
Cells = list[list[str]]


class Float(NamedTuple):
    """A table or figure: its caption ("" if none), box (None if not found), and a table's HTML."""

    caption: str
    box: Box | None
    content: str = ""


def tables(sheet: Sheet, page: Sequence[Paragraph], grid: Any) -> list[Float]:
    """The tables of a page, by their captions `Table n:`.

    `grid(box)` gives the rows of a table that has vertical rules (pdfplumber), or [] if it finds none. Tables with horizontal
    rules alone, and without any, are read by rows of letters and the gaps between columns.
    """
    found = []
    for caption in _captions(page, "Table"):
        box, rules = _ruled(sheet, caption, page)
        if box is None:
            box = _unruled(sheet, caption)
        content = ""
        if box:
            upright = [r for r in sheet.rules if r[3] - r[1] > r[2] - r[0] and _inside(r, box)]
            cells, head = (grid(box), 1) if len(upright) > 1 else ([], 0)
            if not cells:
                cells, head = _cells(sheet, box, rules)
            content = to_html(cells, head)
        found.append(Float(caption.text, box, content))
    return found


def figures(sheet: Sheet, page: Sequence[Paragraph]) -> list[Float]:
    """The figures of a page by their captions, and pictures of some size that have none."""
    found: list[Float] = []
    pictures = [box for box in sheet.images if 400 < _area(box) < 0.9 * sheet.width * sheet.height]
    for caption in _captions(page, "Fig"):
        found.append(Float(caption.text, _above(caption.box, pictures) or _above(caption.box, sheet.shapes + sheet.rules)))
    taken = [known.box for known in found if known.box]
    alone = [box for box in pictures if _area(box) > 2500 and not any(_inside(box, other) for other in taken)]
    found += [Float("", box) for box in alone]
    return sorted(found, key=lambda f: (f.box or (0, 0, 0, 0))[1] if f.box else sheet.height)


def to_html(cells: Cells, head: int) -> str:
    """Rows as an HTML table; the first `head` rows are header cells. "" without rows."""
    rows = []
    for number, row in enumerate(cells):
        tag = "th" if number < head else "td"
        rows.append("<tr>" + "".join(f"<{tag}>{html.escape(cell, quote=False)}</{tag}>" for cell in row) + "</tr>")
    return f"<table>{''.join(rows)}</table>" if rows else ""


def _captions(page: Sequence[Paragraph], word: str) -> list[Paragraph]:
    return [p for p in page if p.kind == "caption" and (match := CAPTION.match(p.text)) and match[1].startswith(word)]


def _ruled(sheet: Sheet, caption: Paragraph, page: Sequence[Paragraph]) -> tuple[Box | None, list[Box]]:
    """From the horizontal rule nearest to the caption over all rules of the same width, up to the next caption or heading."""
    flat = [r for r in sheet.rules if r[2] - r[0] > 30 and r[3] - r[1] < 3 and _beside(r, caption.box)]
    walls = [p.box for p in page if p is not caption and p.kind in ("caption", "heading") and _beside(p.box, caption.box)]
    below = sorted((r for r in flat if r[1] > caption.box[3] - 3), key=lambda r: r[1])
    above = sorted((r for r in flat if r[3] < caption.box[1] + 3), key=lambda r: -r[3])
    sides = []
    if below and below[0][1] - caption.box[3] < _NEAR:
        stop = min((w[1] for w in walls if w[1] > caption.box[3] - 3), default=sheet.height)
        sides.append((below[0][1] - caption.box[3], [r for r in below if r[1] < stop]))
    if above and caption.box[1] - above[0][3] < _NEAR:
        stop = max((w[3] for w in walls if w[3] < caption.box[1] + 3), default=0.0)
        sides.append((caption.box[1] - above[0][3], [r for r in above if r[3] > stop]))
    for _, rules in sorted(sides, key=lambda side: side[0]):
        alike = [r for r in rules if abs(r[0] - rules[0][0]) < 8 and abs(r[2] - rules[0][2]) < 8] if rules else []
        if alike and around(alike)[3] - around(alike)[1] > 8:
            return around(alike), sorted(alike, key=lambda r: r[1])
    return None, []


def _unruled(sheet: Sheet, caption: Paragraph) -> Box | None:
    """The run of lines of several cells that touches the caption from below, or else from above."""
    rows = baselines([f for f in sheet.fragments if _beside(f.box, caption.box)])
    for downwards in (True, False):
        run: list[Box] = []
        edge = caption.box[3] if downwards else caption.box[1]
        for row in rows if downwards else reversed(rows):
            box = around(f.box for f in row)
            gap = box[1] - edge if downwards else edge - box[3]
            if gap < -3:
                continue
            if gap > 22 or len(row) < 2:
                break
            run.append(box)
            edge = box[3] if downwards else box[1]
        if len(run) > 1:
            return around(run)
    return None


def _cells(sheet: Sheet, box: Box, rules: list[Box]) -> tuple[Cells, int]:
    """Rows and columns from where the letters stand, and how many rows are the header (above the rule under it)."""
    lines = baselines([f for f in sheet.fragments if _inside(f.box, box)])
    if not lines:
        return [], 0
    columns = _columns(lines)
    cells: Cells = []
    edges: list[Box] = []
    for line in (_split(line, columns) for line in lines):
        whole = around(f.box for f in line)
        if not edges or whole[1] > edges[-1][3] - 1:  # lines that overlap are one row: a cell of two lines beside cells of one
            cells.append([""] * len(columns))
            edges.append(whole)
        edges[-1] = around([edges[-1], whole])
        for place, fragment in zip(_places(line, columns), line, strict=True):
            cells[-1][place] = f"{cells[-1][place]} {fragment.text}".strip()
    head = sum(edge[3] < rules[1][3] + 4 for edge in edges) if len(rules) >= 3 else 0
    return cells, head if head < len(cells) else 0


def _columns(lines: list[list[Fragment]]) -> list[tuple[float, float]]:
    """Where the columns lie, from the lines of the commonest number of cells."""
    counts = [len(line) for line in lines]
    usual = max(sorted(set(counts)), key=lambda count: (counts.count(count) * (count > 1), count))
    alike = [line for line in lines if len(line) == usual]
    return [(min(line[c].box[0] for line in alike), max(line[c].box[2] for line in alike)) for c in range(usual)]


def _split(line: list[Fragment], columns: list[tuple[float, float]]) -> list[Fragment]:
    """Cut a piece in two where a somewhat wide blank lies between columns, in a line that lacks a cell."""
    if len(line) >= len(columns):
        return line
    pieces = []
    for piece in line:
        for place, x0, x1 in piece.gaps:
            right = [c for c in columns if c[0] - 1 <= x1 and piece.box[2] <= c[1] + 1]
            if x1 - x0 > 0.4 * piece.size and right and x0 < right[-1][0] + 1:
                pieces.append(piece._replace(text=piece.text[:place], box=(*piece.box[:2], x0, piece.box[3]), gaps=()))
                piece = piece._replace(text=piece.text[place + 1 :], box=(x1, *piece.box[1:]), gaps=())
                break
        pieces.append(piece)
    return pieces


def _places(line: list[Fragment], columns: list[tuple[float, float]]) -> list[int]:
    """The column of each piece of a line: in order where all are there, else the one it shares most width with."""
    if len(line) == len(columns):
        return list(range(len(columns)))
    return [max(range(len(columns)), key=lambda c: (_shared(f.box, columns[c]), -c)) for f in line]


def _shared(box: Box, column: tuple[float, float]) -> float:
    return min(box[2], column[1]) - max(box[0], column[0])


def _above(caption: Box, things: list[Box]) -> Box | None:
    """The things right above a caption (or, failing that, below it), grown by what touches them."""
    for downwards in (False, True):
        known: Box | None = None
        edge = caption[3] if downwards else caption[1]
        candidates = [t for t in things if _beside(t, caption) and (t[1] > edge - 5 if downwards else t[3] < edge + 5)]
        for thing in sorted(candidates, key=lambda t: t[1] if downwards else -t[3]):
            limit = edge if known is None else (known[3] if downwards else known[1])
            gap = thing[1] - limit if downwards else limit - thing[3]
            if gap > (_NEAR if known is None else 14):
                break
            known = around([known, thing]) if known else thing
        if known and _area(known) > 400:
            return known
    return None


def _beside(box: Box, other: Box) -> bool:
    """Whether two boxes share a good part of the narrower one's width."""
    return _shared(box, (other[0], other[2])) > 0.3 * min(max(box[2] - box[0], 1), max(other[2] - other[0], 1))


def _inside(box: Box, other: Box) -> bool:
    x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    return other[0] - 3 <= x <= other[2] + 3 and other[1] - 3 <= y <= other[3] + 3


def _area(box: Box) -> float:
    return max(0.0, box[2] - box[0]) * max(0.0, box[3] - box[1])
