"""Agents' SQL: what may be read, and that nothing else can be done with it."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import pytest

import vivavoce.tools.sql_worker
from vivavoce.errors import DataError
from vivavoce.tools.database import Database
from vivavoce.tools.errors import ActionError, ActionTimeoutError
from vivavoce.tools.sql_check import check_select

TABLES = ["chunks", "metadata", "tables"]


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT title FROM metadata ORDER BY title;", [["Cranes: Routing Text"], ["Herons: Frozen Lakes"]]),
        ("SELECT count(*) FROM chunks c JOIN metadata m ON c.ref_paper_id = m.paper_id WHERE m.pub_year = 2023", [[2]]),
        ("WITH long AS (SELECT * FROM chunks WHERE length(text_content) > 10) SELECT count(*) FROM long", [[3]]),
        ("SELECT 1 AS a UNION ALL SELECT 2", [[1], [2]]),
        ("SELECT author FROM metadata, unnest(authors) AS t(author) WHERE pub_year = 2023", [["Ada Roe"], ["Bo Lin"]]),
        ("SELECT count(*) FROM information_schema.tables WHERE table_name = 'chunks'", [[1]]),
        (
            "SELECT regexp_extract(text_content, '[0-9.]+ million') FROM main.chunks ORDER BY ordinal, chunk_id LIMIT 1",
            [["4.2 million"]],
        ),
        ("SELECT 'DROP TABLE chunks' AS x -- ; DELETE FROM chunks", [["DROP TABLE chunks"]]),
    ],
)
async def test_selects_run(database: Database, sql: str, rows: list[list[object]]) -> None:
    assert (await database.select(sql)).rows == rows


REFUSED = [
    "INSERT INTO chunks VALUES (1)",
    "UPDATE chunks SET text_content = ''",
    "DELETE FROM chunks",
    "DROP TABLE chunks",
    "CREATE TABLE x (a INT)",
    "CREATE TEMP TABLE x AS SELECT 1",
    "CREATE MACRO f(x) AS x",
    "SELECT 1; SELECT 2",
    "SELECT 1; DROP TABLE chunks",
    "ATTACH '/tmp/x.db'",
    "DETACH library",
    "USE memory",
    "COPY chunks TO '/tmp/out.csv'",
    "COPY (SELECT 1) TO '/tmp/out.csv'",
    "EXPORT DATABASE '/tmp/out'",
    "IMPORT DATABASE '/tmp/out'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET memory_limit = '100GB'",
    "SET GLOBAL enable_external_access = true",
    "RESET lock_configuration",
    "PRAGMA database_list",
    "CALL duckdb_settings()",
    "EXECUTE x",
    "PREPARE x AS SELECT 1",
    "VACUUM",
    "CHECKPOINT",
    "BEGIN TRANSACTION",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM read_blob('/proc/self/environ')",
    "SELECT * FROM read_parquet('https://example.org/x.parquet')",
    "SELECT * FROM '/etc/passwd'",
    "SELECT * FROM 'https://example.org/x.csv'",
    'SELECT * FROM "/etc/passwd"',
    "SELECT * FROM glob('/*')",
    "SELECT * FROM query('SELECT 1')",
    "SELECT * FROM query_table('chunks')",
    "SELECT * FROM duckdb_settings()",
    "SELECT * FROM duckdb_secrets()",
    "SELECT * FROM duckdb_databases",
    "SELECT * FROM sqlite_master",
    "SELECT * FROM pg_catalog.pg_class",
    "SELECT * FROM memory.main.x",
    "SELECT current_setting('temp_directory')",
    "SELECT getenv('HOME')",
    "SELECT pg_sleep(10)",
    "SELECT (SELECT content FROM read_text('/etc/passwd'))",
    "SELECT * FROM chunks WHERE text_content IN (SELECT content FROM read_text('/etc/passwd'))",
    "WITH x AS (SELECT * FROM read_text('/etc/passwd')) SELECT * FROM x",
    "WITH x AS (DELETE FROM chunks RETURNING *) SELECT * FROM x",
    "SELECT * INTO x FROM chunks",
    "EXPLAIN ANALYZE SELECT 1",
    "DESCRIBE chunks",
    "SHOW TABLES",
    "SUMMARIZE chunks",
    "SELECT * FROM nowhere",
    "",
    "not sql at all",
    "SELECT " + "(" * 3000 + "1" + ")" * 3000,
    "SELECT '" + "x" * 20_000 + "'",
]


@pytest.mark.parametrize("sql", REFUSED)
def test_anything_else_is_refused_before_it_reaches_the_engine(sql: str) -> None:
    with pytest.raises(ActionError):
        check_select(sql, TABLES)


def test_refusals_say_what_may_be_read() -> None:
    with pytest.raises(ActionError, match="there is no table 'nowhere'; the tables are chunks, metadata, tables"):
        check_select("SELECT * FROM nowhere", TABLES)
    with pytest.raises(ActionError, match="exactly one statement, found 2"):
        check_select("SELECT 1; SELECT 2", TABLES)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) FROM " + ", ".join(f"chunks c{number}" for number in range(24)),
        "WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) SELECT count(*) FROM r",
        "SELECT range(1000000000) AS x",
        "SELECT lpad('a', 2000000000, 'b') AS x",
        "SELECT length(replace(repeat('a', 10000000), 'a', repeat('b', 1000)))",
        "SELECT list(a.text_content || repeat(b.text_content, 100000)) FROM chunks a, chunks b",
    ],
)
async def test_time_and_memory_are_bounded_and_the_next_query_runs(database: Database, sql: str) -> None:
    start = time.monotonic()
    with pytest.raises(ActionError):
        await database.select(sql)
    assert time.monotonic() - start < 8
    assert (await database.select("SELECT 1")).rows == [[1]]


async def test_running_out_of_time_is_told_apart(database: Database) -> None:
    with pytest.raises(ActionTimeoutError, match=r"more than 1\.5 seconds"):
        await database.select("WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) SELECT count(*) FROM r")


async def test_rows_are_capped_and_long_texts_cut(database: Database) -> None:
    result = await database.select("SELECT a.ordinal FROM chunks a, chunks b", rows=2)
    assert (len(result.rows), result.more) == (2, True)
    [[text]] = (await database.select("SELECT repeat('x', 100000)", characters=50)).rows
    assert text == "x" * 50 + " ..."


async def test_values_of_every_kind_come_as_json(database: Database) -> None:
    sql = (
        "SELECT paper_id, authors, pub_year, NULL AS n, 1.5::DECIMAL(4, 1) AS d, DATE '2020-01-02' AS t, {'a': 1} AS s "
        "FROM metadata ORDER BY paper_id LIMIT 1"
    )
    result = await database.select(sql)
    assert json.loads(json.dumps(result.rows[0]))[1:] == [["Ada Roe", "Bo Lin"], 2023, None, "1.5", "2020-01-02", {"a": 1}]


async def test_many_tasks_share_one_database(database: Database) -> None:
    results = await asyncio.gather(*(database.select(f"SELECT {number} AS n") for number in range(40)))
    assert [result.rows for result in results] == [[[number]] for number in range(40)]


def test_even_without_the_check_the_worker_can_neither_write_nor_reach_out(corpus_file: Path, tmp_path: Path) -> None:
    before = hashlib.sha256(corpus_file.read_bytes()).hexdigest()
    hostile = [
        "DELETE FROM chunks",
        "CREATE TABLE library.x (a INT)",
        f"COPY (SELECT 1) TO '{tmp_path}/out.csv'",
        f"ATTACH '{tmp_path}/new.db'",
        f"EXPORT DATABASE '{tmp_path}/out'",
        "SELECT content FROM read_text('/etc/passwd')",
        "SELECT content FROM read_blob('/proc/self/environ')",
        "SELECT * FROM read_csv('http://127.0.0.1:9/x.csv')",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "SET lock_configuration = false",
        "SET memory_limit = '100GB'",
    ]
    worker = str(Path(vivavoce.tools.sql_worker.__file__))
    lines = "".join(json.dumps({"sql": sql, "rows": 5, "characters": 500}) + "\n" for sql in hostile)
    command = [sys.executable, "-I", worker, str(corpus_file), "5", "128"]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, env={}, timeout=60)
    replies = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(replies) == len(hostile)
    assert all("error" in reply for reply in replies), [
        sql for sql, reply in zip(hostile, replies, strict=True) if "error" not in reply
    ]
    assert list(tmp_path.iterdir()) == []
    assert hashlib.sha256(corpus_file.read_bytes()).hexdigest() == before


async def test_the_worker_has_no_environment(corpus_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "canary")
    own = Database(corpus_file)
    await own.select("SELECT 1")
    children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(os.getpid())], capture_output=True, text=True).stdout.split()
    environments = [Path(f"/proc/{pid}/environ") for pid in children]
    assert not any("canary" in path.read_text(errors="replace") for path in environments if path.exists() and _is_worker(path))
    own.close()


def _is_worker(path: Path) -> bool:
    return "sql_worker" in (path.parent / "cmdline").read_text(errors="replace")


async def test_a_library_may_hold_the_file_open_with_other_settings(corpus_file: Path) -> None:
    with duckdb.connect(str(corpus_file), read_only=True) as held:
        own = Database(corpus_file)
        assert (await own.select("SELECT count(*) FROM chunks")).rows == [[3]]
        assert held.execute("SELECT count(*) FROM chunks").fetchall() == [(3,)]
        own.close()


async def test_workers_end_with_their_database(corpus_file: Path) -> None:
    own = Database(corpus_file)
    await own.select("SELECT 1")
    own.close()
    assert not own.close.alive


def test_a_missing_file_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="run snakemake again"):
        Database(tmp_path / "none.duckdb")
