"""The database that agents read: SQL written by a model can look at the papers and at nothing else."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from vivavoce.corpus.database import TABLES, connect_read_only, fingerprint
from vivavoce.errors import DataError

REFUSED = [
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM read_text('/etc/hostname')",
    "SELECT * FROM read_blob('/etc/hostname')",
    "SELECT * FROM read_json_auto('/etc/hostname')",
    "SELECT * FROM '/etc/passwd'",
    "SELECT * FROM glob('/etc/*')",
    "SELECT * FROM read_parquet('http://127.0.0.1:1/x.parquet')",
    "ATTACH '/tmp/other.duckdb'",
    "ATTACH ':memory:' AS other",
    "COPY metadata TO '/tmp/stolen.csv'",
    "COPY metadata FROM '/etc/passwd'",
    "EXPORT DATABASE '/tmp/stolen'",
    "IMPORT DATABASE '/tmp'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET memory_limit = '100GB'",
    "SET threads = 64",
    "SET enable_external_access = true",
    "SET lock_configuration = false",
    "RESET memory_limit",
    "PRAGMA threads = 64",
    "PRAGMA enable_profiling",
    "CREATE SECRET s (TYPE s3)",
    "SELECT getenv('HOME')",
    "INSERT INTO metadata (paper_id) VALUES (uuid())",
    "UPDATE metadata SET title = 'x'",
    "DELETE FROM chunks",
    "DROP TABLE chunks",
    "CREATE TABLE t (i INTEGER)",
]


@pytest.mark.parametrize("sql", REFUSED)
def test_hostile_sql_is_refused(corpus: Path, sql: str) -> None:
    with connect_read_only(corpus / "papers.duckdb") as connection, pytest.raises(duckdb.Error):
        connection.execute(sql).fetchall()


def test_memory_is_bounded(corpus: Path) -> None:
    with connect_read_only(corpus / "papers.duckdb") as connection, pytest.raises(duckdb.OutOfMemoryException):
        connection.execute("SELECT list(a.range || repeat('x', 100)) FROM range(100000000) a").fetchall()


def test_many_may_read_at_once(corpus: Path) -> None:
    path = corpus / "papers.duckdb"
    with connect_read_only(path) as one, connect_read_only(path) as two:
        sql = "SELECT count(*) FROM metadata"
        assert one.execute(sql).fetchone() == two.execute(sql).fetchone() == (3,)


def test_other_limits_in_one_process_are_refused(corpus: Path) -> None:
    path = corpus / "papers.duckdb"
    with connect_read_only(path), pytest.raises(DataError, match="with other limits"):
        connect_read_only(path, memory="2GB")


def test_the_schema_is_the_published_one(corpus: Path) -> None:
    with connect_read_only(corpus / "papers.duckdb") as connection:
        found = connection.execute("SELECT table_name, column_name FROM information_schema.columns").fetchall()
    assert sorted(found) == sorted((table, column) for table, columns in TABLES.items() for column in columns)


def test_what_only_a_language_model_writes_stays_null(corpus: Path) -> None:
    with connect_read_only(corpus / "papers.duckdb") as connection:
        for table, column in (
            ("metadata", "tldr"),
            ("metadata", "tags"),
            ("pages", "page_summary"),
            ("tables", "table_summary"),
        ):
            assert connection.execute(f"SELECT count({column}) FROM {table}").fetchone() == (0,)


def test_rows_belong_to_papers_and_pages(corpus: Path) -> None:
    with connect_read_only(corpus / "papers.duckdb") as connection:
        pages = "pages p ON p.page_id = c.ref_page_id AND p.ref_paper_id = c.ref_paper_id"
        orphans = f"SELECT count(*) FROM chunks c LEFT JOIN {pages} WHERE p.page_id IS NULL"
        assert connection.execute(orphans).fetchone() == (0,)
        ordinals = "SELECT min(ordinal), max(ordinal) = count(*) FROM chunks GROUP BY ref_paper_id"
        assert set(connection.execute(ordinals).fetchall()) == {(1, True)}


def test_a_missing_or_broken_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such database"):
        connect_read_only(tmp_path / "x.duckdb")
    (tmp_path / "y.duckdb").write_bytes(b"not a database" * 500)
    with pytest.raises(DataError, match="not a readable DuckDB file"):
        connect_read_only(tmp_path / "y.duckdb")


def test_a_fingerprint_sees_a_changed_row(corpus: Path, tmp_path: Path) -> None:
    copy = tmp_path / "papers.duckdb"
    copy.write_bytes((corpus / "papers.duckdb").read_bytes())
    with duckdb.connect(str(copy)) as connection:
        connection.execute("UPDATE metadata SET volume = 'changed' WHERE pub_year = 2023")
    before, after = fingerprint(corpus / "papers.duckdb"), fingerprint(copy)
    assert {table for table in before if before[table] != after[table]} == {"metadata"}
