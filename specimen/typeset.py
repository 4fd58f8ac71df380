"""Lays a paper out with reportlab: title block, one or two columns, tables, charts, equations, references."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import charts
import matplotlib
from formula import Equation
from reportlab import rl_config
from reportlab.lib.enums import TA_CENTER, TA_JUSTIFY
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import inch
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.platypus import (
    BaseDocTemplate,
    Frame,
    FrameBreak,
    Image,
    KeepTogether,
    NextPageTemplate,
    PageTemplate,
    Paragraph,
    Spacer,
)
from reportlab.platypus import Table as Grid
from source import Source

WIDTH, HEIGHT = A4
TOP, BOTTOM, GUTTER = 62.0, 66.0, 20.0
NOTE = "Invented specimen of the Vivavoce project: no such study exists."


def fonts() -> None:
    """Register the STIX text faces that ship with matplotlib under the family name `Text`."""
    folder = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
    faces = {
        "Text": "STIXGeneral",
        "Text-Bold": "STIXGeneralBol",
        "Text-Italic": "STIXGeneralItalic",
        "Text-Both": "STIXGeneralBolIta",
    }
    for name, file in faces.items():
        pdfmetrics.registerFont(TTFont(name, str(folder / f"{file}.ttf")))
    pdfmetrics.registerFontFamily("Text", normal="Text", bold="Text-Bold", italic="Text-Italic", boldItalic="Text-Both")


def styles(columns: int) -> dict[str, ParagraphStyle]:
    size = 11.2 if columns == 2 else 11.0
    body = ParagraphStyle("body", fontName="Text", fontSize=size, leading=size * 1.3, alignment=TA_JUSTIFY, spaceAfter=5)

    def style(name: str, **changes: Any) -> ParagraphStyle:
        return ParagraphStyle(name, parent=body, **changes)

    centre = {"alignment": TA_CENTER}
    return {
        "body": body,
        "title": style("title", fontName="Text-Bold", fontSize=17, leading=21, spaceAfter=9, **centre),
        "authors": style("authors", fontSize=11.5, leading=14, spaceAfter=2, **centre),
        "affiliation": style("affiliation", fontName="Text-Italic", fontSize=10, leading=12.5, spaceAfter=1, **centre),
        "venue": style("venue", fontSize=9.5, leading=12, spaceAfter=10, **centre),
        "abstract": style("abstract", fontSize=size - 0.6, leading=(size - 0.6) * 1.28, leftIndent=10, rightIndent=10),
        "heading": style(
            "heading",
            fontName="Text-Bold",
            fontSize=size + 2,
            leading=size + 5,
            spaceBefore=8,
            spaceAfter=4,
            keepWithNext=1,
            alignment=0,
        ),
        "subheading": style(
            "subheading",
            fontName="Text-Bold",
            fontSize=size,
            leading=size + 3,
            spaceBefore=5,
            spaceAfter=3,
            keepWithNext=1,
            alignment=0,
        ),
        "caption": style("caption", fontSize=size - 1, leading=(size - 1) * 1.2, spaceBefore=3, spaceAfter=4, alignment=0),
        "cell": style("cell", fontSize=size - 1.8, leading=size, alignment=0, spaceAfter=0, splitLongWords=0),
        "reference": style(
            "reference",
            fontSize=size - 1,
            leading=(size - 1) * 1.2,
            leftIndent=17,
            firstLineIndent=-17,
            spaceAfter=3,
            alignment=0,
        ),
    }


def inline(text: str, numbers: dict[str, int]) -> str:
    """Markdown emphasis and `[@key]` citations as reportlab markup; an unknown key is a KeyError."""
    text = escape(text)
    text = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", text)
    text = re.sub(r"\*(.+?)\*", r"<i>\1</i>", text)
    return re.sub(
        r"\[(@[\w, @]+)\]", lambda m: "[" + ", ".join(str(numbers[k.strip(" @")]) for k in m[1].split(",")) + "]", text
    )


def pdf(source: Source, references: dict[str, str]) -> tuple[bytes, int]:
    """The PDF's bytes and its number of pages."""
    rl_config.invariant = 1
    rl_config.useA85 = 0
    columns = int(source.head["columns"])
    look = styles(columns)
    margin = 54.0 if columns == 2 else 84.0
    inner = WIDTH - 2 * margin
    column = (inner - GUTTER * (columns - 1)) / columns
    top = title_block(source, look)
    used = sum(flowable.wrap(inner, HEIGHT)[1] + flowable.getSpaceAfter() for flowable in top) + 6
    bare = {"leftPadding": 0, "rightPadding": 0, "topPadding": 0, "bottomPadding": 0}

    def frames(height: float) -> list[Frame]:
        return [Frame(margin + i * (column + GUTTER), BOTTOM, column, height, id=f"c{i}", **bare) for i in range(columns)]

    room = HEIGHT - TOP - BOTTOM
    buffer = io.BytesIO()
    document = BaseDocTemplate(
        buffer,
        pagesize=A4,
        title=source.title,
        author=", ".join(source.head["authors"]),
        subject=NOTE,
        creator="Vivavoce specimen",
    )
    banner = Frame(margin, HEIGHT - TOP - used, inner, used, id="banner", **bare)
    document.addPageTemplates(
        [
            PageTemplate("first", [banner, *frames(room - used)], onPageEnd=footer),
            PageTemplate("later", frames(room), onPageEnd=footer),
        ]
    )
    story = [NextPageTemplate("later"), *top, FrameBreak(), *body(source, references, look, column)]
    document.build(story)
    return buffer.getvalue(), document.page


def footer(canvas: Any, document: Any) -> None:
    canvas.setFont("Text", 8)
    canvas.drawString(50, 32, NOTE)
    canvas.drawRightString(WIDTH - 50, 32, str(document.page))


def title_block(source: Source, look: dict[str, ParagraphStyle]) -> list[Any]:
    head = source.head
    return [
        Paragraph(escape(source.venue_line), look["venue"]),
        Paragraph(escape(source.title), look["title"]),
        Paragraph(escape(", ".join(head["authors"])), look["authors"]),
        *(Paragraph(escape(line), look["affiliation"]) for line in head["affiliations"]),
        Paragraph(escape(head["email"]), look["venue"]),
    ]


def body(source: Source, references: dict[str, str], look: dict[str, ParagraphStyle], column: float) -> list[Any]:
    numbers = {key: index for index, key in enumerate(references, 1)}
    story: list[Any] = [
        Paragraph("Abstract", look["heading"]),
        Paragraph(inline(source.head["abstract"], numbers), look["abstract"]),
    ]
    count = dict.fromkeys(("heading", "subheading", "table", "figure", "equation"), 0)
    for block in source.blocks:
        if block.kind in count:
            count[block.kind] += 1
        if block.kind == "heading":
            count["subheading"] = 0
            story.append(Paragraph(f"{count['heading']} {inline(block.value, numbers)}", look["heading"]))
        elif block.kind == "subheading":
            story.append(
                Paragraph(f"{count['heading']}.{count['subheading']} {inline(block.value, numbers)}", look["subheading"])
            )
        elif block.kind == "equation":
            story += [Equation(block.value, count["equation"]), Spacer(1, 4)]
        elif block.kind == "table":
            story.append(table(block.value, count["table"], numbers, look, column))
        elif block.kind == "figure":
            width = min(column, 330.0)
            height = width * float(block.value.get("aspect", 0.68))
            image = Image(io.BytesIO(charts.draw(block.value, width / inch, height / inch)), width, height)
            caption = Paragraph(f"Figure {count['figure']}: {inline(block.value['caption'], numbers)}", look["caption"])
            story.append(KeepTogether([Spacer(1, 4), image, caption, Spacer(1, 5)]))
        else:
            story.append(Paragraph(inline(block.value, numbers), look["body"]))
    story.append(Paragraph("References", look["heading"]))
    story += [Paragraph(f"[{numbers[key]}] {inline(text, numbers)}", look["reference"]) for key, text in references.items()]
    return story


def table(
    value: dict[str, Any], number: int, numbers: dict[str, int], look: dict[str, ParagraphStyle], column: float
) -> KeepTogether:
    """A table in book style: caption above, three rules, the first column left, the others right or centred."""
    rows = [[Paragraph(f"<b>{inline(str(cell), numbers)}</b>", look["cell"]) for cell in value["columns"]]]
    rows += [[Paragraph(inline(str(cell), numbers), look["cell"]) for cell in row] for row in value["rows"]]
    shares = value.get("widths") or [1.6] + [1.0] * (len(value["columns"]) - 1)
    wide = min(column, float(value.get("width", 360)))
    grid = Grid(rows, colWidths=[wide * share / sum(shares) for share in shares], hAlign="CENTER")
    grid.setStyle(
        [
            ("LINEABOVE", (0, 0), (-1, 0), 1.0, "black"),
            ("LINEBELOW", (0, 0), (-1, 0), 0.5, "black"),
            ("LINEBELOW", (0, -1), (-1, -1), 1.0, "black"),
            ("TOPPADDING", (0, 0), (-1, -1), 1.5),
            ("BOTTOMPADDING", (0, 0), (-1, -1), 2.5),
            ("LEFTPADDING", (0, 0), (-1, -1), 3),
            ("RIGHTPADDING", (0, 0), (-1, -1), 3),
            ("VALIGN", (0, 0), (-1, -1), "MIDDLE"),
        ]
    )
    caption = Paragraph(f"Table {number}: {inline(value['caption'], numbers)}", look["caption"])
    return KeepTogether([Spacer(1, 3), caption, grid, Spacer(1, 8)])
