"""Typesets a numbered equation: matplotlib's mathtext lays it out, reportlab sets its glyphs as real, extractable text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.font_manager import FontProperties
from matplotlib.mathtext import MathTextParser
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.platypus import Flowable

MATH_SIZE = 10.5


class Equation(Flowable):
    """A displayed equation, centred, with its number at the right edge."""

    def __init__(self, latex: str, number: int, size: float = MATH_SIZE) -> None:
        super().__init__()
        with matplotlib.rc_context({"mathtext.fontset": "stix"}):
            properties = FontProperties(family="STIXGeneral", size=size)
            parse = MathTextParser("path").parse(f"${latex}$".replace("\\frac", "\\dfrac"), dpi=72, prop=properties)
        self.size = size
        self.number = number
        self.formula_width, self.formula_height, self.formula_depth = (
            float(parse.width),
            float(parse.height),
            float(parse.depth),
        )
        self.glyphs = [
            (_font(font.fname), float(size), chr(code), float(x), float(y)) for font, size, code, _, x, y in parse.glyphs
        ]
        self.rules = [tuple(float(value) for value in rule) for rule in parse.rects]

    def wrap(self, width: float, height: float) -> tuple[float, float]:
        self.room = width
        if self.formula_width > width - 24:
            raise ValueError(
                f"equation ({self.number}) is {self.formula_width:.0f} pt wide, the column {width:.0f}: shorten it"
            )
        return width, self.formula_height + 8

    def draw(self) -> None:
        canvas: Any = self.canv
        left = max((self.room - self.formula_width) / 2 - 6, 0)
        baseline = 4.0 + self.formula_depth  # mathtext counts y from the baseline
        for font, size, char, x, y in self.glyphs:
            canvas.setFont(font, size)
            canvas.drawString(left + x, baseline + y, char)
        for x, y, width, height in self.rules:
            canvas.rect(left + x, baseline + y, width, height, stroke=0, fill=1)
        canvas.setFont("Text", self.size - 0.5)
        canvas.drawRightString(self.room, baseline, f"({self.number})")


def _font(file: str) -> str:
    name = Path(file).stem
    if name not in pdfmetrics.getRegisteredFontNames():
        pdfmetrics.registerFont(TTFont(name, file))
    return name
