"""An ingested corpus, opened read-only: papers, search, text and page images."""

from __future__ import annotations

import io
import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from vivavoce.corpus.base import Hit, Library, Paper, SearchMode
from vivavoce.corpus.database import connect_read_only, select
from vivavoce.corpus.embed import MiniLM
from vivavoce.corpus.index import FUSION, fuse, open_index
from vivavoce.errors import DataError
from vivavoce.files import sample

_DEPTH = 100  # how deep each ranking goes into a fusion
_DPI = 200
_MOST_PIXELS = 25_000_000
_PDFIUM = threading.Lock()  # pdfium is not safe from two threads


def open_library(folder: Path, *, threads: int = 1) -> Library:
    """Open the corpus that `ingest` made in `folder`. DataError if there is none or it is of another version."""
    from vivavoce.corpus.manifest import read_manifest

    return FolderLibrary(folder, read_manifest(folder), threads=threads)


class FolderLibrary:
    """`Library` over `papers.duckdb`, `index/` and `pdfs/` of a folder. May be shared by threads."""

    def __init__(self, folder: Path, manifest: dict[str, Any], *, threads: int = 1) -> None:
        self._folder = folder
        settings = manifest["index"]
        self._lexical: tuple[str, ...] = tuple(settings["lexical"])
        self._embedded: tuple[str, ...] = tuple(settings["embedding"])
        self._index = open_index(settings["uri"], folder / "index")
        self._model = MiniLM(max_tokens=settings["max_tokens"], threads=threads)

    @property
    def database(self) -> Path:
        return self._folder / "papers.duckdb"

    def papers(self) -> Sequence[Paper]:
        return list(self._papers.values())

    def paper(self, identity: str) -> Paper:
        self._check([identity])
        return self._papers[identity]

    def columns(self) -> Sequence[tuple[str, str]]:
        """Sorted pairs; every one can be searched by words, `embedded()` says which by meaning too."""
        return [_pair(name) for name in sorted({*self._lexical, *self._embedded})]

    def embedded(self) -> Sequence[tuple[str, str]]:
        """The pairs that have embeddings."""
        return [_pair(name) for name in sorted(self._embedded)]

    def search(
        self,
        query: str,
        *,
        mode: SearchMode = "hybrid",
        table: str = "chunks",
        column: str = "text_content",
        papers: Sequence[str] = (),
        limit: int = 5,
    ) -> list[Hit]:
        """See `Library`. `hybrid` fuses both rankings where the column has embeddings, and is `lexical` where it has none."""
        name = f"{table}.{column}"
        if (table, column) not in self.columns():
            known = ", ".join(".".join(pair) for pair in self.columns())
            raise DataError(f"{name} is not searchable in {self._folder.name}. Searchable: {known}.")
        if mode == "embedding" and name not in self._embedded:
            raise DataError(
                f"{name} has no embeddings in {self._folder.name}: search it by words, or add it to index.embedding."
            )
        self._check(papers)
        if not query.strip() or limit < 1:
            return []
        if mode == "lexical" or name not in self._embedded:
            return self._index.words(name, query, papers, limit)
        depth = limit if mode == "embedding" else max(limit, _DEPTH)
        near = self._index.meaning(name, self._model.query(query), papers, depth)
        if mode == "embedding":
            return near
        return fuse(self._index.words(name, query, papers, depth), near, limit=limit)

    def full_text(self, identity: str) -> str:
        """Page texts joined by blank lines; title and abstract where only the catalogue is known."""
        paper = self.paper(identity)
        sql = "SELECT page_content FROM pages WHERE ref_paper_id = ? ORDER BY page_number"
        pages = [content for (content,) in select(self._connection, sql, [identity])]
        return "\n\n".join(pages) if pages else f"{paper.title}\n\n{paper.abstract}".strip()

    def page_image(self, identity: str, page: int, box: Sequence[float] = ()) -> bytes:
        """See `Library`. DataError for a page that is not there, a box outside the page, or a paper without a PDF."""
        self._check([identity])
        path = self._folder / "pdfs" / f"{identity}.pdf"
        if not path.is_file():
            raise DataError(f"{identity}: this corpus has no PDF of the paper, so no page can be shown.")
        with _PDFIUM:
            return render(path, page, box)

    def _check(self, papers: Sequence[str]) -> None:
        unknown = [identity for identity in papers if identity not in self._papers]
        if unknown:
            raise DataError(
                f"no such paper(s) in {self._folder.name}: {sample(map(str, unknown))}. It holds {len(self._papers)} papers."
            )

    @cached_property
    def _connection(self) -> Any:
        return connect_read_only(self.database)

    @cached_property
    def _papers(self) -> dict[str, Paper]:
        columns = "paper_id, title, abstract, authors, conference_abbreviation, pub_year, num_pages"
        sql = f"SELECT {columns} FROM metadata ORDER BY paper_id::VARCHAR"  # noqa: S608 the names are constants
        found = {}
        for identity, title, abstract, authors, venue, year, pages in select(self._connection, sql):
            found[str(identity)] = Paper(
                id=str(identity),
                title=title or "",
                abstract=abstract or "",
                authors=tuple(authors or ()),
                venue=(venue or "").lower(),
                year=year,
                num_pages=pages or 0,
            )
        return found


def render(path: Path, page: int, box: Sequence[float]) -> bytes:
    """A page, or the part [x, y, width, height] in points from the top left, as PNG at 200 dpi (less where it would be
    huge).
    """
    import pypdfium2

    with pypdfium2.PdfDocument(path) as document:
        if not 1 <= page <= len(document):
            raise DataError(f"page {page} does not exist: the paper has pages 1 to {len(document)}.")
        sheet = document[page - 1]
        width, height = sheet.get_size()
        crop = (0.0, 0.0, 0.0, 0.0)
        if len(box):
            if len(box) != 4 or not all(isinstance(value, (int, float)) and abs(value) < 1e6 for value in box):
                raise DataError(f"bounding box {list(box)}: expected [x, y, width, height] in points.")
            x, y, w, h = (float(value) for value in box)
            x0, y0, x1, y1 = max(0.0, x), max(0.0, y), min(width, x + w), min(height, y + h)
            if x1 - x0 < 1 or y1 - y0 < 1:
                raise DataError(f"bounding box {list(box)} lies outside the page, which is {width:.0f} x {height:.0f} points.")
            crop = (x0, height - y1, width - x1, y0)
            width, height = x1 - x0, y1 - y0
        scale = min(_DPI / 72, (_MOST_PIXELS / (width * height)) ** 0.5)
        stream = io.BytesIO()
        sheet.render(scale=scale, crop=crop).to_pil().save(stream, format="PNG")
        return stream.getvalue()


def _pair(name: str) -> tuple[str, str]:
    table, column = name.split(".", 1)
    return table, column


__all__ = ["FUSION", "FolderLibrary", "open_library", "render"]
