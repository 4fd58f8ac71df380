"""What a search index is: rows of a text column, found by words or by meaning. One index is files beside the tables, another
a search server.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from vivavoce.corpus.base import Hit
from vivavoce.errors import ConfigError

Vectors = NDArray[np.float32]
FUSION = 60  # the constant of reciprocal rank fusion (Cormack, Clarke and Buettcher, SIGIR 2009)


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One indexed text: the row's primary key, its paper, and the page (from 1) where it has one."""

    key: str
    paper: str
    text: str
    page: int | None = None


class Index(Protocol):
    """Collections are named `table.column`. Results are best first, ties by key."""

    def write(self, collection: str, rows: Iterable[Row], vectors: Vectors | None) -> None:
        """Replace a collection; `vectors` [rows, width] are unit vectors, or None for words alone."""
        ...

    def words(self, collection: str, query: str, papers: Sequence[str], limit: int) -> list[Hit]:
        """By BM25 over lower-cased, stemmed words without stop words; rows that share no word are no hits."""
        ...

    def meaning(self, collection: str, vector: Vectors, papers: Sequence[str], limit: int) -> list[Hit]:
        """By cosine to a unit vector."""
        ...


def open_index(uri: str, folder: Path) -> Index:
    """The index in `folder` if `uri` is empty, else the server's."""
    if not uri:
        from vivavoce.corpus.local_index import LocalIndex

        return LocalIndex(folder)
    if uri.startswith("opensearch+"):
        from vivavoce.corpus.server_index import ServerIndex

        return ServerIndex(uri.removeprefix("opensearch+"))
    raise ConfigError(f"index.uri: {uri!r} is no known index. Expected '' or opensearch+http://host:9200/prefix.")


def fuse(*rankings: Sequence[Hit], limit: int) -> list[Hit]:
    """Reciprocal rank fusion: a hit's score is the sum of 1 / (60 + rank) over the rankings that hold it; ties by key."""
    scores: dict[str, float] = {}
    known: dict[str, Hit] = {}
    for ranking in rankings:
        for rank, hit in enumerate(ranking, 1):
            scores[hit.key] = scores.get(hit.key, 0.0) + 1 / (FUSION + rank)
            known.setdefault(hit.key, hit)
    best = sorted(scores, key=lambda key: (-scores[key], key))[:limit]
    return [msgspec.structs.replace(known[key], score=scores[key]) for key in best]


def hit_of(collection: str, row: Row, score: float) -> Hit:
    """A search result for a row."""
    table, column = collection.split(".", 1)
    return Hit(paper=row.paper, table=table, column=column, key=row.key, text=row.text, score=score, page=row.page)
