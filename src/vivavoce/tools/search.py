"""RetrieveFromVectorstore and ClassicRetrieve: search of the corpus's index, as rows.

The published collections are Milvus': `text_bm25_en` is lexical search here and the MiniLM collection embedding search;
`text_hybrid` is our fusion of both. BGE and CLIP collections do not exist here (no published trajectory chose them).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vivavoce.corpus.base import Hit, Library, SearchMode
from vivavoce.errors import DataError
from vivavoce.records import Passage
from vivavoce.tools.errors import ActionError
from vivavoce.tools.filters import Filter

COLLECTIONS: dict[str, SearchMode] = {
    "text_bm25_en": "lexical",
    "text_sentence_transformers_all_minilm_l6_v2": "embedding",
    "text_hybrid": "hybrid",
}
_WIDE = 200  # hits taken before a filter on pages or keys is applied


def classic_search(library: Library, query: str, limit: int, papers: Sequence[str], mode: SearchMode) -> list[Hit]:
    """The nearest text chunks within `papers` (all papers if it is empty)."""
    _need_query(query)
    table, column = classic_place(library)
    return _search(library, query, mode=mode, table=table, column=column, papers=papers, limit=max(1, limit))


def classic_place(library: Library) -> tuple[str, str]:
    """The column that stands for a corpus's text: its chunks; titles and abstracts where only a catalogue is known."""
    columns = set(library.columns())
    for place in (("chunks", "text_content"), ("metadata", "title_abstract"), ("metadata", "abstract")):
        if place in columns:
            return place
    raise ActionError(f"this corpus has no text to search; indexed are {sorted(columns)}")


def vector_search(library: Library, arguments: Mapping[str, Any]) -> list[Hit]:
    """The nearest rows of a text column; `arguments` are those of RetrieveFromVectorstore."""
    query, table, column = arguments["query"], arguments["table_name"], arguments["column_name"]
    collection, limit = arguments["collection_name"], max(1, arguments["limit"])
    _need_query(query)
    if collection not in COLLECTIONS:
        raise ActionError(f"there is no collection {collection!r}; the collections are {', '.join(COLLECTIONS)}")
    columns = sorted(library.columns())
    if (table, column) not in columns:
        known = ", ".join(f"{left}.{right}" for left, right in columns)
        raise ActionError(f"{table}.{column} is not indexed for search; indexed are {known}")
    condition = Filter(arguments["filter"])
    papers: list[str] = []
    if "pdf_id" in condition.fields:
        everything = [paper.id for paper in library.papers()]
        papers = [identity for identity in everything if condition.may_hold({"pdf_id": identity})]
        if not papers:
            return []
        if len(papers) == len(everything):
            papers = []
    narrow = bool(condition.fields - {"pdf_id"})
    hits = _search(
        library,
        query,
        mode=COLLECTIONS[collection],
        table=table,
        column=column,
        papers=papers,
        limit=max(_WIDE, limit) if narrow else limit,
    )
    kept = [hit for hit in hits if condition.may_hold(_row(hit))]
    return kept[:limit]


def hit_rows(hits: Sequence[Hit]) -> list[dict[str, Any]]:
    """Hits as an agent sees them (the fields of the published observation)."""
    return [
        {
            "score": round(hit.score, 4),
            **_row(hit),
            "table_name": hit.table,
            "column_name": hit.column,
            "text": hit.text,
        }
        for hit in hits
    ]


def hit_passage(hit: Hit, library: Library) -> Passage:
    """A hit as a passage that may be cited."""
    return Passage(
        id=f"{hit.table}.{hit.column}:{hit.key}", text=hit.text, title=library.paper(hit.paper).title, paper=hit.paper
    )


def _row(hit: Hit) -> dict[str, Any]:
    return {"pdf_id": hit.paper, "page_number": -1 if hit.page is None else hit.page, "primary_key": hit.key}


def _need_query(query: str) -> None:
    if not query.strip():
        raise ActionError("the query is empty")


def _search(library: Library, query: str, **options: Any) -> list[Hit]:
    try:
        return library.search(query[:4000], **options)
    except DataError as error:
        raise ActionError(str(error)) from None
