"""How agents and tools read a corpus: one interface over the DuckDB tables and the search index of a folder of papers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, Protocol

import msgspec

SearchMode = Literal["lexical", "embedding", "hybrid"]


class Paper(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the `metadata` table knows of a paper."""

    id: str
    title: str
    abstract: str = ""
    authors: tuple[str, ...] = ()
    venue: str = ""  # abbreviation, such as acl
    year: int | None = None
    num_pages: int = 0


class Hit(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A search result: a row of an indexed text column, with its score (higher is nearer)."""

    paper: str
    table: str  # chunks, metadata, tables, ...
    column: str  # text_content, abstract, table_content, ...
    key: str  # the row's primary key
    text: str
    score: float
    page: int | None = None  # from 1


class Library(Protocol):
    """An ingested corpus, opened read-only. Unknown paper ids raise DataError that names them."""

    @property
    def database(self) -> Path:
        """The DuckDB file, to be opened read-only."""
        ...

    def papers(self) -> Sequence[Paper]:
        """All papers, sorted by id."""
        ...

    def paper(self, identity: str) -> Paper: ...

    def columns(self) -> Sequence[tuple[str, str]]:
        """The (table, column) pairs that are indexed for search."""
        ...

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
        """The best rows for a query, within `papers` if any are named; ties broken by key."""
        ...

    def full_text(self, identity: str) -> str:
        """A paper's page texts, joined by blank lines."""
        ...

    def page_image(self, identity: str, page: int, box: Sequence[float] = ()) -> bytes:
        """A page (from 1) or a crop [x, y, width, height] in PDF points, as PNG at 200 dpi."""
        ...
