"""What a paper's paragraphs are: sections, numbered equations, references, title and abstract."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from vivavoce.corpus.fragments import Sheet
from vivavoce.corpus.layout import Line, Paragraph, joined

_ENTRY = re.compile(r"^(?:\[\w{1,12}\]|\d{1,3}\.)\s+\S")
_REFERENCES = re.compile(r"^(?:\d{1,2}\.?\s+)?(references|bibliography)[.:]?$", re.IGNORECASE)
_ABSTRACT = re.compile(r"^abstract[.:—–-]*\s*", re.IGNORECASE)


class Placed(NamedTuple):
    """A text and the pages (from 1) on which it stands; `title` of sections."""

    text: str
    pages: tuple[int, ...]
    title: str = ""


Pages = Sequence[Sequence[Paragraph]]  # the paragraphs of each page, in reading order


def sections(pages: Pages) -> list[Placed]:
    """Headings with all that follows until the next one, captions and equations included. What stands before the first
    heading is left out.
    """
    found: list[tuple[str, list[str], list[int]]] = []
    for number, page in enumerate(pages, 1):
        for paragraph in page:
            if paragraph.kind == "heading":
                found.append((paragraph.text, [], [number]))
            elif found:
                _, texts, where = found[-1]
                texts.append(paragraph.text)
                where.append(number)
    return [Placed(_continued(texts), tuple(sorted(set(where))), title) for title, texts, where in found]


def _continued(texts: list[str]) -> str:
    """Paragraphs by blank lines; one that a page or column break cut is made whole."""
    whole: list[str] = []
    for text in texts:
        if whole and text[:1].islower() and whole[-1][-1:] not in ".:?!)":
            whole[-1] = joined([whole[-1], text])
        else:
            whole.append(text)
    return "\n\n".join(whole)


def equations(pages: Pages) -> list[Placed]:
    """Displayed equations that carry a number at the margin, as the text that the PDF holds (not LaTeX)."""
    return [Placed(p.text, (number,)) for number, page in enumerate(pages, 1) for p in page if p.kind == "equation"]


def references(pages: Pages) -> list[Placed]:
    """The entries after the References heading, up to the next heading."""
    lines: list[tuple[int, Line, bool]] = []
    inside = False
    for number, page in enumerate(pages, 1):
        for paragraph in page:
            if paragraph.kind == "heading":
                inside = bool(_REFERENCES.match(paragraph.text)) or (inside and False)
            elif inside and paragraph.kind != "caption":
                lines += [(number, line, position == 0) for position, line in enumerate(paragraph.lines)]
    if not lines:
        return []
    marked = sum(bool(_ENTRY.match(line.text)) for _, line, _ in lines) >= 2
    margins = {
        (n, line.column): min(o.box[0] for m, o, _ in lines if (m, o.column) == (n, line.column)) for n, line, _ in lines
    }
    hanging = [line.box[0] - margins[n, line.column] > 0.5 * line.size for n, line, _ in lines]
    entries: list[tuple[int, list[str]]] = []
    for (number, line, opens), indented in zip(lines, hanging, strict=True):
        new = bool(_ENTRY.match(line.text)) if marked else (not indented if any(hanging) else opens)
        if new or not entries:
            entries.append((number, []))
        entries[-1][1].append(line.text)
    return [Placed(joined(texts), (number,)) for number, texts in entries]


def title_of(sheet: Sheet, page: Sequence[Paragraph]) -> str:
    """The text in the largest letters of the first page's upper half ("" if there is none)."""
    upper = [p for p in page if p.box[1] < 0.5 * sheet.height and re.search("[A-Za-z]{3}", p.text)]
    largest = max((p.lines[0].size for p in upper), default=0.0)
    return joined(p.text for p in upper if p.lines[0].size > 0.97 * largest)


def abstract_of(pages: Pages) -> str:
    """What the heading Abstract heads, or the paragraph that begins with the word ("" if neither)."""
    for section in sections(pages[:2]):
        if _ABSTRACT.match(section.title):
            return section.text
    for paragraph in pages[0] if pages else ():
        if _ABSTRACT.match(paragraph.text) and len(paragraph.text) > 80:
            return _ABSTRACT.sub("", paragraph.text)
    return ""
