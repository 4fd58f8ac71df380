"""What a prompt says of a corpus: its tables and columns with comments, and what may be searched.

Nothing here depends on the machine (upstream's prompt holds the database's absolute path), so equal corpora give equal prompts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from vivavoce.models.action_text import Syntax, write_action
from vivavoce.tools.actions import ACTIONS
from vivavoce.tools.database import Column
from vivavoce.tools.search import COLLECTIONS

KINDS = {"string": "text", "integer": "whole number", "box": "list of four numbers", "any": "any value"}

_TABLES = {
    "metadata": "one row a paper",
    "pages": "one row a page",
    "images": "figures, in the order of the paper",
    "chunks": "pieces of the running text, in order",
    "tables": "tables, in the order of the paper",
    "sections": "sections, in order",
    "equations": "displayed equations, in order",
    "reference": "entries of the bibliography, in order",
}
_COLUMNS = {
    "paper_id": "id of the paper",
    "title": "title",
    "abstract": "abstract",
    "num_pages": "number of pages",
    "conference_full": "full name of the venue",
    "conference_abbreviation": "short name of the venue",
    "pub_year": "year of publication",
    "authors": "names of the authors, in order",
    "page_number": "counted from 1",
    "page_content": "text of the page",
    "image_caption": "caption of the figure",
    "bounding_box": "[x, y, width, height] in PDF points",
    "text_content": "text of the chunk",
    "table_caption": "caption of the table",
    "table_content": "the table in HTML",
    "section_title": "heading",
    "section_content": "text of the section",
    "page_numbers": "pages it stands on",
    "equation_content": "the equation",
    "reference_content": "text of the entry",
    "ordinal": "position within the paper, from 1",
    "page_summary": "usually empty",
    "image_summary": "usually empty",
    "table_summary": "usually empty",
    "section_summary": "usually empty",
    "tldr": "usually empty",
    "tags": "usually empty",
    "ref_paper_id": "metadata.paper_id of the paper it is from",
    "ref_page_id": "pages.page_id of the page it is on",
}

_EXAMPLES: dict[str, dict[str, Any]] = {
    "RetrieveFromDatabase": {"sql": "SELECT title, num_pages FROM metadata WHERE pub_year = 2023;"},
    "RetrieveFromVectorstore": {
        "query": "how the learning rate was chosen",
        "collection_name": "text_bm25_en",
        "table_name": "chunks",
        "column_name": "text_content",
        "filter": "page_number <= 4",
        "limit": 5,
    },
    "ClassicRetrieve": {"query": "how the learning rate was chosen", "limit": 5},
    "CalculateExpr": {"expr": "(41.2 - 38.5) / 38.5 * 100"},
    "ViewImage": {"paper_id": "the id of a paper", "page_number": 3, "bounding_box": []},
    "GenerateAnswer": {"answer": ["first item", 2]},
}


def example(name: str, syntax: Syntax) -> str:
    """An action as a model should write it."""
    return write_action(name, _EXAMPLES[name], syntax)


def examples(names: Iterable[str], syntax: Syntax) -> dict[str, str]:
    """An example of each of the actions."""
    return {name: example(name, syntax) for name in names if name in ACTIONS}


def describe_database(columns: Sequence[Column]) -> str:
    """The tables as CREATE TABLE statements with comments."""
    lines = []
    for table, group in groupby(columns, key=lambda column: column.table):
        lines.append(f"CREATE TABLE {table} (" + (f"  -- {_TABLES[table]}" if table in _TABLES else ""))
        for column in group:
            comment = f"  -- {_COLUMNS[column.name]}" if column.name in _COLUMNS else ""
            lines.append(f"  {column.name} {column.kind},{comment}")
        lines.append(");")
    return "\n".join(lines)


def describe_vectorstore(columns: Sequence[tuple[str, str]]) -> str:
    """The collections, the searchable columns and the grammar of filters."""
    kinds = {"lexical": "BM25", "embedding": "sentence embeddings (MiniLM)", "hybrid": "both, fused by rank"}
    collections = "\n".join(f"- {name}: {kinds[mode]}" for name, mode in COLLECTIONS.items())
    places = "\n".join(f"- table {table}, column {column}" for table, column in sorted(columns))
    return (
        f"Collections:\n{collections}\nColumns:\n{places}\n"
        "Filters compare pdf_id (text), page_number (from 1; -1 unknown) and primary_key (text) by == != < <= > >= in, "
        "joined by and, or, not."
    )
