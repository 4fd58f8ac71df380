"""A small corpus for tests of tools and agents: a real DuckDB file, and search that counts shared words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from vivavoce.corpus.base import Hit, Paper, SearchMode
from vivavoce.corpus.database import write_database
from vivavoce.errors import DataError

ONE, TWO = "11111111-1111-5111-8111-111111111111", "22222222-2222-5222-8222-222222222222"
PNG = b"\x89PNG\r\n\x1a\n"

PAPERS = (
    Paper(
        id=ONE,
        title="Cranes: Routing Text",
        abstract="Cranes routes text.",
        authors=("Ada Roe", "Bo Lin"),
        venue="acl",
        year=2023,
        num_pages=2,
    ),
    Paper(
        id=TWO,
        title="Herons: Frozen Lakes",
        abstract="Herons forecasts ice.",
        authors=("Cy Dee",),
        venue="emnlp",
        year=2024,
        num_pages=1,
    ),
)
CHUNKS = (
    (ONE, 1, "Cranes routes every passage to a lane. The router has 4.2 million parameters."),
    (ONE, 2, "Cranes reaches an accuracy of 71.5 on HarborQA. Training took 36 hours on one machine."),
    (TWO, 1, "Herons forecasts ice on 23 lakes. The forecast is not better in warm winters."),
)
TABLE = (
    "<table><tr><th>Method</th><th>HarborQA</th><th>MillDocs</th></tr>"
    "<tr><td>Cranes</td><td>71.5</td><td>63.0</td></tr><tr><td>FlatChunk</td><td>65.2</td><td>58.9</td></tr></table>"
)


def _uuid(kind: int, number: int) -> str:
    return f"{kind:08d}-0000-5000-8000-{number:012d}"


def write(path: Path) -> None:
    """The papers in the schema of the specification."""
    rows = []
    for position, paper in enumerate(PAPERS):
        own = [chunk for chunk in CHUNKS if chunk[0] == paper.id]
        metadata = {
            "paper_id": paper.id,
            "title": paper.title,
            "abstract": paper.abstract,
            "num_pages": paper.num_pages,
            "conference_full": f"Meeting of {paper.venue}",
            "conference_abbreviation": paper.venue,
            "pub_year": paper.year,
            "authors": list(paper.authors),
        }
        pages = [
            {"page_id": _uuid(1, 10 * position + page), "page_number": page, "page_content": text, "ref_paper_id": paper.id}
            for _, page, text in own
        ]
        chunks = [
            {
                "chunk_id": _uuid(2, 10 * position + page),
                "text_content": text,
                "ordinal": page,
                "ref_paper_id": paper.id,
                "ref_page_id": _uuid(1, 10 * position + page),
            }
            for _, page, text in own
        ]
        tables: list[dict[str, Any]] = []
        if paper.id == ONE:
            tables = [
                {
                    "table_id": _uuid(3, 1),
                    "table_caption": "Accuracy of all methods.",
                    "table_content": TABLE,
                    "ordinal": 1,
                    "ref_paper_id": ONE,
                    "ref_page_id": _uuid(1, 2),
                }
            ]
        rows.append({"metadata": [metadata], "pages": pages, "chunks": chunks, "tables": tables})
    write_database(path, rows)


class FakeLibrary:
    """Implements `Library` over the constants above."""

    def __init__(self, database: Path) -> None:
        self.database = database
        self.searches: list[dict[str, Any]] = []

    def papers(self) -> Sequence[Paper]:
        return PAPERS

    def paper(self, identity: str) -> Paper:
        for paper in PAPERS:
            if paper.id == identity:
                return paper
        raise DataError(f"no such paper: {identity}")

    def columns(self) -> Sequence[tuple[str, str]]:
        return [("chunks", "text_content"), ("metadata", "abstract"), ("metadata", "title"), ("tables", "table_content")]

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
        self.searches.append(
            {"query": query, "mode": mode, "table": table, "column": column, "papers": list(papers), "limit": limit}
        )
        for paper in papers:
            self.paper(paper)
        asked = set(query.lower().split())
        hits = [
            Hit(
                paper=paper,
                table=table,
                column=column,
                key=key,
                text=text,
                page=page,
                score=float(len(asked & set(text.lower().split()))),
            )
            for paper, page, key, text in self._rows(table, column)
            if not papers or paper in papers
        ]
        return sorted(hits, key=lambda hit: (-hit.score, hit.key))[:limit]

    def full_text(self, identity: str) -> str:
        return "\n\n".join(text for paper, _, text in CHUNKS if paper == self.paper(identity).id)

    def page_image(self, identity: str, page: int, box: Sequence[float] = ()) -> bytes:
        if page > self.paper(identity).num_pages:
            raise DataError(f"page {page} does not exist")
        return PNG

    def _rows(self, table: str, column: str) -> list[tuple[str, int | None, str, str]]:
        if table == "chunks":
            return [(paper, page, f"chunk-{place}", text) for place, (paper, page, text) in enumerate(CHUNKS)]
        if table == "tables":
            return [(ONE, 2, "table-1", TABLE)]
        return [(paper.id, None, paper.id, str(getattr(paper, column))) for paper in PAPERS]
