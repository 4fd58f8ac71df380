"""A PDF page as pieces of text with boxes, fonts and drawn things, read by pdfium (Apache-2.0/BSD).

Boxes are (x0, top, x1, bottom) in PDF points from the page's top left corner.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

Box = tuple[float, float, float, float]
_GAP = 0.9  # in letter heights: a wider gap separates cells and columns (blanks of justified text stay below it)
_BOLD = re.compile(r"bold|black|heavy|semibold|cmbx|medi\b", re.IGNORECASE)


class Fragment(NamedTuple):
    """A run of letters on one line without a wide gap."""

    text: str
    box: Box
    size: float  # letter height, the median over letters
    bold: bool
    gaps: tuple[tuple[int, float, float], ...] = ()  # blanks: place in `text`, and where the gap begins and ends


def around(boxes: Iterable[Box]) -> Box:
    """The smallest box that holds all (at least one)."""
    known = list(boxes)
    return min(b[0] for b in known), min(b[1] for b in known), max(b[2] for b in known), max(b[3] for b in known)


class Sheet(NamedTuple):
    """What stands on a page."""

    width: float
    height: float
    fragments: list[Fragment]
    images: list[Box]  # bitmaps and embedded drawings
    rules: list[Box]  # thin lines, horizontal and vertical
    shapes: list[Box]  # other drawn paths


def read_sheet(page: Any) -> Sheet:
    """Read one `pypdfium2.PdfPage`."""
    left, bottom, right, top = page.get_bbox()
    textpage = page.get_textpage()
    try:
        fragments = _fragments(textpage, left, top)
    finally:
        textpage.close()
    images, rules, shapes = _drawn(page, left, top)
    return Sheet(right - left, top - bottom, fragments, images, rules, shapes)


def _fragments(textpage: Any, left: float, top: float) -> list[Fragment]:
    import pypdfium2.raw as pdfium

    raw = textpage.raw
    rect = pdfium.FS_RECTF()
    fragments: list[Fragment] = []
    letters: list[str] = []
    boxes: list[Box] = []
    first = 0
    for index in range(textpage.count_chars()):
        letter = _letter(pdfium.FPDFText_GetUnicode(raw, index))
        if letter in "\r\n":
            _close(fragments, letters, boxes, raw, first)
            continue
        if letter == " ":
            letters.append(letter)
            continue
        if not letter or not pdfium.FPDFText_GetLooseCharBox(raw, index, ctypes.byref(rect)):
            continue
        box = (rect.left - left, top - rect.top, rect.right - left, top - rect.bottom)
        if boxes and _apart(boxes[-1], box):
            _close(fragments, letters, boxes, raw, first)
        if not boxes:
            first = index
            letters.clear()
        letters.append(letter)
        boxes.append(box)
    _close(fragments, letters, boxes, raw, first)
    return fragments


def _letter(code: int) -> str:
    if code in (2, 0xFFFE, 0xAD):  # pdfium's marks for a hyphen at a line's end
        return "-"
    if code in (9, 0xA0, 0x2002, 0x2003, 0x2009):
        return " "
    if code in (10, 13):
        return "\n"
    return chr(code) if 32 <= code < 0xD800 or 0xE000 <= code <= 0x10FFFF else ""


def _apart(last: Box, box: Box) -> bool:
    height = max(last[3] - last[1], box[3] - box[1], 1.0)
    overlap = min(last[3], box[3]) - max(last[1], box[1])
    return (
        box[0] - last[2] > _GAP * height
        or box[0] < last[2] - 1.5 * height
        or overlap < 0.3 * min(last[3] - last[1], box[3] - box[1])
    )


def _close(fragments: list[Fragment], letters: list[str], boxes: list[Box], raw: Any, first: int) -> None:
    text = "".join(letters).strip()
    if text and boxes:
        box = (min(b[0] for b in boxes), min(b[1] for b in boxes), max(b[2] for b in boxes), max(b[3] for b in boxes))
        size = sorted(b[3] - b[1] for b in boxes)[len(boxes) // 2]
        upright = box[3] - box[1] < 3 * size or len(boxes) < 4
        if upright and size > 0:
            text, gaps = _spaced(letters, boxes)
            fragments.append(Fragment(text, box, size, _bold(raw, first), gaps))
    letters.clear()
    boxes.clear()


def _spaced(letters: list[str], boxes: list[Box]) -> tuple[str, tuple[tuple[int, float, float], ...]]:
    """The text with single blanks, and where each blank lies; `boxes` are those of the letters that are no blanks."""
    text = ""
    gaps = []
    pending = False
    place = 0
    for letter in letters:
        if letter == " ":
            pending = bool(text)
            continue
        if pending:
            gaps.append((len(text), boxes[place - 1][2], boxes[place][0]))
            text += " "
        text += letter
        pending = False
        place += 1
    return text, tuple(gaps)


def _bold(raw: Any, index: int) -> bool:
    import pypdfium2.raw as pdfium

    name = ctypes.create_string_buffer(128)
    flags = ctypes.c_int()
    length = pdfium.FPDFText_GetFontInfo(raw, index, name, 128, ctypes.byref(flags))
    known = name.raw[: max(0, min(length, 128) - 1)].decode("utf-8", "replace")
    return bool(_BOLD.search(known)) or pdfium.FPDFText_GetFontWeight(raw, index) >= 600


def _drawn(page: Any, left: float, top: float) -> tuple[list[Box], list[Box], list[Box]]:
    import pypdfium2.raw as pdfium

    images: list[Box] = []
    rules: list[Box] = []
    shapes: list[Box] = []
    wanted = [pdfium.FPDF_PAGEOBJ_IMAGE, pdfium.FPDF_PAGEOBJ_FORM, pdfium.FPDF_PAGEOBJ_PATH, pdfium.FPDF_PAGEOBJ_SHADING]
    for thing in page.get_objects(filter=wanted, max_depth=1):
        x0, y0, x1, y1 = thing.get_bounds()
        box = (x0 - left, top - y1, x1 - left, top - y0)
        width, height = x1 - x0, y1 - y0
        if thing.type in (pdfium.FPDF_PAGEOBJ_IMAGE, pdfium.FPDF_PAGEOBJ_FORM):
            images.append(box)
        elif (height < 3 and width > 4) or (width < 3 and height > 6):
            rules.append(box)
        else:
            shapes.append(box)
    return images, rules, shapes
