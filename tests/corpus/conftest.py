"""Papers made on the spot: PDFs with reportlab, and a small ingested corpus."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Paragraph as Text

from vivavoce.config.corpus import CorpusConfig, IndexConfig
from vivavoce.corpus.base import Library
from vivavoce.corpus.ingest import ingest
from vivavoce.corpus.library import open_library

WIDTH, HEIGHT = 595, 842
BODY = ParagraphStyle("body", fontName="Times-Roman", fontSize=10, leading=12.5)


class Page:
    """Draws on a page from the top: `y` grows downwards."""

    def __init__(self, canvas: Canvas) -> None:
        self.canvas = canvas

    def text(self, x: float, y: float, text: str, font: str = "Times-Roman", size: float = 10) -> None:
        self.canvas.setFont(font, size)
        self.canvas.drawString(x, HEIGHT - y, text)

    def block(self, x: float, y: float, width: float, text: str) -> float:
        """A paragraph; returns where it ends."""
        paragraph = Text(text, BODY)
        _, height = paragraph.wrap(width, 1000)
        paragraph.drawOn(self.canvas, x, HEIGHT - y - height)
        return float(y + height)

    def rule(self, x0: float, y: float, x1: float) -> None:
        self.canvas.line(x0, HEIGHT - y, x1, HEIGHT - y)

    def wall(self, x: float, y0: float, y1: float) -> None:
        self.canvas.line(x, HEIGHT - y0, x, HEIGHT - y1)


Draw = Callable[[Page], None]


@pytest.fixture(scope="session")
def make_pdf() -> Callable[..., Path]:
    """`make_pdf(path, draw, draw, ...)`: one function a page."""

    def make(path: Path, *pages: Draw, encrypt: Any = None) -> Path:
        canvas = Canvas(str(path), pagesize=(WIDTH, HEIGHT), encrypt=encrypt, invariant=1)
        for draw in pages:
            draw(Page(canvas))
            canvas.showPage()
        canvas.save()
        return path

    return make


def words(prefix: str, count: int) -> str:
    return " ".join(f"{prefix}{number}" for number in range(count))


def paper(title: str, topic: str) -> Draw:
    """A one-page paper of two columns with a heading, a table and references."""

    def draw(page: Page) -> None:
        page.text(120, 60, title, "Times-Bold", 17)
        page.text(60, 100, "Abstract", "Times-Bold", 12)
        page.block(60, 108, 220, f"We study {topic}. " + words("left", 60))
        page.text(60, 300, "1 Introduction", "Times-Bold", 12)
        page.block(60, 308, 220, f"The question of {topic} is old. " + words("intro", 120))
        page.text(320, 100, "2 Results", "Times-Bold", 12)
        page.block(320, 108, 220, words("right", 110))
        page.text(320, 330, "Table 1: Scores of two systems.")
        for y in (340, 356, 388):
            page.rule(320, y, 540)
        for row, cells in enumerate([("System", "Score"), ("Alpha", "0.91"), ("Beta", "0.87")]):
            for column, cell in enumerate(cells):
                page.text(325 + 120 * column, 352 + 15 * row, cell)
        page.text(320, 430, "References", "Times-Bold", 12)
        page.text(320, 446, "[1] Ann Other. 2020. On things. Journal of Things.")
        page.text(320, 459, "[2] Ben Nobody. 2021. Off things. Journal of Things.")

    return draw


@pytest.fixture(scope="session")
def draw_paper() -> Callable[[str, str], Draw]:
    return paper


CONFIG = CorpusConfig(
    name="small",
    source="pdfs",
    index=IndexConfig(embedding=("metadata.title_abstract",), lexical=("chunks.text_content", "metadata.title")),
)


@pytest.fixture(scope="session")
def config() -> CorpusConfig:
    return CONFIG


@pytest.fixture(scope="session")
def inputs(tmp_path_factory: pytest.TempPathFactory, make_pdf: Callable[..., Path]) -> dict[str, Path]:
    """Three papers with a catalogue of two."""
    folder = tmp_path_factory.mktemp("inputs")
    (folder / "pdfs").mkdir()
    for name, title, topic in (
        ("a.pdf", "Rivers of Glass", "glaciers and rivers"),
        ("b.pdf", "Voices of Bats", "echolocation in bats"),
        ("c.pdf", "Bread and Yeast", "fermentation of dough"),
    ):
        make_pdf(folder / "pdfs" / name, paper(title, topic))
    entries = [
        {
            "title": "Rivers of Glass",
            "venue": "acl",
            "year": 2023,
            "pdf": "a.pdf",
            "abstract": "Glaciers feed rivers.",
            "authors": ["A. One"],
        },
        {"title": "Voices of Bats", "venue": "acl", "year": 2024, "pdf": "b.pdf", "abstract": "Bats call in the dark."},
    ]
    (folder / "papers.json").write_text(json.dumps(entries))
    return {"catalogue": folder / "papers.json", "pdfs": folder / "pdfs"}


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory, inputs: dict[str, Path]) -> Path:
    """The folder of the ingested papers."""
    folder = tmp_path_factory.mktemp("corpora") / "small"
    ingest(CONFIG, inputs, folder, processes=1, threads=1)
    return folder


@pytest.fixture(scope="session")
def library(corpus: Path) -> Library:
    return open_library(corpus)
