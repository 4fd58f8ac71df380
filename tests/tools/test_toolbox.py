"""Observations: their texts, caps, citation numbers, filters and errors."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from vivavoce.tools.actions import ACTIONS, SPACES
from vivavoce.tools.database import Database
from vivavoce.tools.describe import describe_database, describe_vectorstore
from vivavoce.tools.errors import ActionError
from vivavoce.tools.filters import Filter
from vivavoce.tools.observe import Caps
from vivavoce.tools.tokens import cut, plain_count
from vivavoce.tools.toolbox import Toolbox

ONE, TWO = "11111111-1111-5111-8111-111111111111", "22222222-2222-5222-8222-222222222222"


def _vector(**changes: Any) -> dict[str, Any]:
    place = {"collection_name": "text_bm25_en", "table_name": "chunks", "column_name": "text_content"}
    return {"query": "ice forecast", **place, "filter": "", "limit": 5, **changes}


async def test_sql_rows_are_json_with_a_count(library: Any, database: Database) -> None:
    seen = await Toolbox(library, database).run(
        "RetrieveFromDatabase", {"sql": "SELECT title, pub_year FROM metadata ORDER BY 2"}
    )
    lines = seen.text.splitlines()
    assert json.loads(lines[0]) == {"title": "Cranes: Routing Text", "pub_year": 2023}
    assert lines[-1] == "In total, 2 row(s) are shown in JSON, one a line."


async def test_results_are_cut_by_rows_and_by_tokens(library: Any, database: Database) -> None:
    sql = {"sql": "SELECT a.text_content FROM chunks a, chunks b ORDER BY a.chunk_id"}
    by_rows = await Toolbox(library, database, caps=Caps(rows=2)).run("RetrieveFromDatabase", sql)
    assert by_rows.text.splitlines()[-1].endswith(
        "only the first 2 row(s) are shown in JSON, one a line: the result was truncated by max_rows"
    )
    by_tokens = await Toolbox(library, database, caps=Caps(tokens=60)).run("RetrieveFromDatabase", sql)
    assert "truncated by max_tokens" in by_tokens.text
    assert len(by_tokens.passages) >= 1
    tiny = await Toolbox(library, database, caps=Caps(tokens=10)).run("RetrieveFromDatabase", sql)
    assert plain_count(tiny.text.splitlines()[0]) <= 10


async def test_errors_and_empty_results_are_observations(library: Any, database: Database) -> None:
    toolbox = Toolbox(library, database)
    empty = await toolbox.run("RetrieveFromDatabase", {"sql": "SELECT * FROM chunks WHERE ordinal = 99"})
    assert (empty.text[:10], empty.error) == ("[Warning]:", "")
    wrong = await toolbox.run("RetrieveFromDatabase", {"sql": "SELECT nope FROM chunks"})
    assert wrong.text.startswith("[Error]: RetrieveFromDatabase failed during SQL execution: Binder Error")
    assert wrong.error
    slow = await toolbox.run(
        "RetrieveFromDatabase",
        {"sql": "WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) SELECT count(*) FROM r"},
    )
    assert slow.text.startswith("[TimeoutError]: ")


async def test_vector_search_has_the_published_fields(library: Any) -> None:
    seen = await Toolbox(library, None).run("RetrieveFromVectorstore", _vector(limit=1))
    row = json.loads(seen.text.splitlines()[0])
    assert list(row) == ["score", "pdf_id", "page_number", "primary_key", "table_name", "column_name", "text"]
    assert (row["pdf_id"], row["page_number"]) == (TWO, 1)
    assert seen.passages[0].title == "Herons: Frozen Lakes"


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"collection_name": "image_clip"}, "there is no collection 'image_clip'"),
        ({"column_name": "ordinal"}, "chunks.ordinal is not indexed for search; indexed are chunks.text_content"),
        ({"filter": "paper_id == 'x'"}, "papers are pdf_id here"),
        ({"filter": "page_id == 'x'"}, "pages are page_number here"),
        ({"filter": "open('/etc/passwd')"}, "may name pdf_id"),
        ({"filter": "pdf_id.__class__ == 'x'"}, "compares fields"),
        ({"filter": "page_number < 'x'"}, ""),
        ({"filter": "pdf_id =="}, "is not a condition"),
        ({"query": "  "}, "the query is empty"),
        ({"limit": "many"}, "limit must be a whole number"),
    ],
)
async def test_vector_search_says_what_is_wrong(library: Any, changes: dict[str, Any], says: str) -> None:
    seen = await Toolbox(library, None).run("RetrieveFromVectorstore", _vector(**changes))
    assert seen.text.startswith("[Error]: RetrieveFromVectorstore failed: ")
    assert says in seen.text


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        (f"pdf_id == '{ONE}'", ["chunk-0", "chunk-1"]),
        (f"pdf_id in ['{ONE}', '{TWO}'] && page_number == 1", ["chunk-0", "chunk-2"]),
        (f"not (pdf_id == '{ONE}') or page_number >= 2", ["chunk-1", "chunk-2"]),
        ("primary_key != 'chunk-1'", ["chunk-0", "chunk-2"]),
        ("pdf_id == 'unknown'", []),
    ],
)
async def test_filters_choose_rows(library: Any, text: str, keys: list[str]) -> None:
    seen = await Toolbox(library, None).run("RetrieveFromVectorstore", _vector(filter=text))
    rows = [json.loads(line) for line in seen.text.splitlines() if line.startswith("{")]
    assert sorted(row["primary_key"] for row in rows) == keys


def test_an_unknown_field_may_hold() -> None:
    condition = Filter("pdf_id == 'a' and page_number < 3")
    assert condition.may_hold({"pdf_id": "a"})
    assert not condition.may_hold({"pdf_id": "b"})
    with pytest.raises(ActionError):
        Filter("1 + 1")


async def test_classic_search_stays_within_the_questions_papers(library: Any) -> None:
    await Toolbox(library, None, papers=[ONE]).run("ClassicRetrieve", {"query": "ice"})
    assert library.searches == [
        {"query": "ice", "mode": "embedding", "table": "chunks", "column": "text_content", "papers": [ONE], "limit": 5}
    ]


async def test_citable_rows_are_numbered_on_and_keep_their_number(library: Any, database: Database) -> None:
    toolbox = Toolbox(library, database, cite=True, titles=True)
    first = await toolbox.run("ClassicRetrieve", {"query": "ice forecast", "limit": 2})
    rows = [json.loads(line) for line in first.text.splitlines()[:-1]]
    assert [row["passage"] for row in rows] == [0, 1]
    assert rows[0]["title"] == "Herons: Frozen Lakes"
    again = await toolbox.run("ClassicRetrieve", {"query": "ice forecast", "limit": 3}, first.passages)
    assert [json.loads(line)["passage"] for line in again.text.splitlines()[:-1]] == [0, 1, 2]
    assert len(again.passages) == 1
    sql = await toolbox.run("RetrieveFromDatabase", {"sql": "SELECT title FROM metadata"}, (*first.passages, *again.passages))
    assert [json.loads(line)["passage"] for line in sql.text.splitlines()[:-1]] == [3, 4]


async def test_images_come_from_the_corpus_alone(library: Any) -> None:
    toolbox = Toolbox(library, None)
    seen = await toolbox.run("ViewImage", {"paper_id": ONE, "page_number": 2, "bounding_box": [0, 0, 100, 50]})
    assert base64.b64decode(seen.images[0].base64).startswith(b"\x89PNG")
    for paper, page in (("../../etc/passwd", 1), ("/etc/passwd", 1), (ONE, 0), (ONE, 99), (ONE, -1)):
        refused = await toolbox.run("ViewImage", {"paper_id": paper, "page_number": page})
        assert refused.error, (paper, page)
        assert not refused.images


async def test_arithmetic_and_unknown_actions(library: Any) -> None:
    toolbox = Toolbox(library, None)
    assert (await toolbox.run("CalculateExpr", {"expr": "6 * 7"})).text == "The calculated result is: 42"
    assert (await toolbox.run("CalculateExpr", {"expr": "9**9**9"})).error
    assert (await toolbox.run("RetrieveFromDatabase", {"sql": "SELECT 1"})).error


async def test_descriptions_hold_no_path(library: Any, database: Database) -> None:
    text = describe_database(await database.columns()) + describe_vectorstore(library.columns())
    assert "table_content VARCHAR,  -- the table in HTML" in text
    assert "text_bm25_en" in text
    assert "/" not in text.replace("`", "")


def test_spaces_are_the_published_ones() -> None:
    assert SPACES["hybrid"] == (
        "RetrieveFromDatabase",
        "RetrieveFromVectorstore",
        "CalculateExpr",
        "ViewImage",
        "GenerateAnswer",
    )
    assert set(SPACES["hybrid_paperguide"]) ^ set(SPACES["hybrid"]) == {"ClassicRetrieve", "RetrieveFromVectorstore"}
    assert all(name in ACTIONS for names in SPACES.values() for name in names)


def test_cutting_is_exact() -> None:
    assert cut("abcdefgh", 1) == "abcd"
    assert cut("abc", 5) == "abc"
    assert cut("ab cd ef", 2, lambda text: len(text.split())) == "ab cd "
