"""One PDF -> the rows of its tables, or the reason why it cannot be read."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from vivavoce.corpus import floats, structure
from vivavoce.corpus.catalogue import Entry
from vivavoce.corpus.chunks import count_words, split
from vivavoce.corpus.database import PRIMARY_KEYS, Rows
from vivavoce.corpus.fragments import Box, Sheet, read_sheet
from vivavoce.corpus.ids import paper_id, row_id
from vivavoce.corpus.layout import body_size, ordered_lines, paragraphs, without_running

_LEAST_TEXT = 50  # letters below which a PDF counts as having no text


class Parsing(msgspec.Struct, frozen=True, kw_only=True):
    """What the parsed rows depend on besides the PDF."""

    unit: str = "characters"
    size: int = 512
    overlap: int = 0
    text_cap: int = 16000


class Unreadable(Exception):  # noqa: N818 it is a finding, not a failure of ours
    """Why a PDF is skipped: empty, encrypted, corrupt, scanned, slow."""


class ParsedPaper(msgspec.Struct, frozen=True, kw_only=True):
    """What a PDF holds, before it is known whose paper it is (rows without ids)."""

    title: str
    abstract: str
    pages: list[dict[str, Any]]
    rows: dict[str, list[dict[str, Any]]]  # table -> rows with `page` (from 1) or `page_numbers`


def parse_pdf(path: Path, parsing: Parsing) -> ParsedPaper:
    """Read a PDF. Raises Unreadable with the reason."""
    import pypdfium2

    if path.stat().st_size == 0:
        raise Unreadable("empty: the file holds no bytes")
    try:
        document = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        reason = "encrypted: it needs a password" if "password" in str(error).lower() else f"corrupt: {error}"
        raise Unreadable(reason) from None
    try:
        if not len(document):
            raise Unreadable("empty: it has no pages")
        sheets = [_sheet(document, number) for number in range(len(document))]
    except pypdfium2.PdfiumError as error:
        raise Unreadable(f"corrupt: {error}") from None
    finally:
        document.close()
    letters = sum(len(fragment.text) for sheet in sheets for fragment in sheet.fragments)
    if letters < _LEAST_TEXT:
        pictures = any(sheet.images for sheet in sheets)
        raise Unreadable("scanned: its pages are pictures without text" if pictures else "empty: its pages hold no text")
    return _parsed(path, sheets, parsing)


def _sheet(document: Any, number: int) -> Sheet:
    page = document[number]
    try:
        return read_sheet(page)
    finally:
        page.close()


def _parsed(path: Path, sheets: list[Sheet], parsing: Parsing) -> ParsedPaper:
    sheets = without_running(sheets)
    body = body_size(sheets)
    pages = [paragraphs(ordered_lines(sheet), body) for sheet in sheets]
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in PRIMARY_KEYS if name not in ("metadata", "pages")}
    page_rows = []
    for number, (sheet, page) in enumerate(zip(sheets, pages, strict=True), 1):
        text = "\n\n".join(p.text for p in page)
        page_rows.append(
            {
                "page_number": number,
                "page_width": round(sheet.width),
                "page_height": round(sheet.height),
                "page_content": cut(text, parsing.text_cap),
            }
        )
        length = len if parsing.unit == "characters" else count_words
        for chunk in split(text, parsing.size, overlap=parsing.overlap, length=length):
            rows["chunks"].append({"text_content": cut(chunk, parsing.text_cap), "page": number})
        for table in floats.tables(sheet, page, _grid(path, number)):
            values = {"table_caption": table.caption, "table_content": table.content or None, "bounding_box": corner(table.box)}
            rows["tables"].append({**_cut(values, parsing.text_cap), "page": number})
        for figure in floats.figures(sheet, page):
            values = {"image_caption": figure.caption or None, "bounding_box": corner(figure.box)}
            rows["images"].append({**_cut(values, parsing.text_cap), "page": number})
    for section in structure.sections(pages):
        values = {"section_title": section.title, "section_content": section.text, "page_numbers": list(section.pages)}
        rows["sections"].append(_cut(values, parsing.text_cap))
    for table_name, column, found in (
        ("equations", "equation_content", structure.equations(pages)),
        ("reference", "reference_content", structure.references(pages)),
    ):
        rows[table_name] = [{column: cut(item.text, parsing.text_cap), "page": item.pages[0]} for item in found]
    return ParsedPaper(
        title=structure.title_of(sheets[0], pages[0]), abstract=structure.abstract_of(pages), pages=page_rows, rows=rows
    )


def _grid(path: Path, number: int) -> Callable[[Box], list[list[str]]]:
    """Rows of a table with vertical rules, by pdfplumber (slow, so only where there are such rules)."""

    def rows(box: Box) -> list[list[str]]:
        import pdfplumber

        with pdfplumber.open(path, pages=[number]) as document:
            page = document.pages[0]
            x0, top, x1, bottom = page.bbox
            crop = (max(box[0] - 2, x0), max(box[1] - 2, top), min(box[2] + 2, x1), min(box[3] + 2, bottom))
            if crop[0] >= crop[2] or crop[1] >= crop[3]:
                return []
            table = page.crop(crop).extract_table({"vertical_strategy": "lines", "horizontal_strategy": "lines"})
        cells = [[" ".join((cell or "").split()) for cell in row] for row in table or []]
        return cells if len(cells) > 1 and len(cells[0]) > 1 else []

    return rows


def rows_of(parsed: ParsedPaper | None, entry: Entry | None, pdf_path: str, parsing: Parsing) -> Rows:
    """The database rows of a paper: what a catalogue says goes before what its first page says; ids are made here."""
    known = entry or Entry(id=paper_id(parsed.title if parsed else ""), title=parsed.title if parsed else "")
    paper = str(uuid.UUID(known.id))
    metadata: dict[str, Any] = {
        "paper_id": paper,
        "title": known.title,
        "abstract": known.abstract or (parsed.abstract if parsed else "") or None,
        "num_pages": len(parsed.pages) if parsed else known.num_pages,
        "conference_full": known.conference_full or None,
        "conference_abbreviation": known.venue or None,
        "pub_year": known.year,
        "volume": known.volume or None,
        "download_url": known.pdf_url or None,
        "bibtex": known.bibtex or None,
        "authors": list(known.authors) or None,
        "pdf_path": pdf_path or None,
    }
    rows: Rows = {"metadata": [_cut(metadata, parsing.text_cap)]}
    if parsed is None:
        return rows
    page_ids = {page["page_number"]: row_id(paper, "pages", page["page_number"]) for page in parsed.pages}
    rows["pages"] = [{**page, "page_id": page_ids[page["page_number"]], "ref_paper_id": paper} for page in parsed.pages]
    for table, values in parsed.rows.items():
        rows[table] = []
        for ordinal, value in enumerate(values, 1):
            row = {key: item for key, item in value.items() if key != "page"}
            row |= {PRIMARY_KEYS[table]: row_id(paper, table, ordinal), "ordinal": ordinal, "ref_paper_id": paper}
            if "page" in value:
                row["ref_page_id"] = page_ids[value["page"]]
            rows[table].append(row)
    return rows


def cut(text: str, most: int) -> str:
    """At most `most` characters, then ` ...` if something was left out (spec 4.5)."""
    return text if len(text) <= most else text[:most] + " ..."


def _cut(values: dict[str, Any], most: int) -> dict[str, Any]:
    return {key: cut(value, most) if isinstance(value, str) else value for key, value in values.items()}


def corner(box: Box | None) -> list[int] | None:
    """A box as [x, y, width, height] in whole points, as `bounding_box` holds it."""
    if box is None:
        return None
    x, y = max(0, int(box[0])), max(0, int(box[1]))
    return [x, y, round(box[2]) - x + 1, round(box[3]) - y + 1]
