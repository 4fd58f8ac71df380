"""The DuckDB file of a corpus: its schema, writing it in batches, and opening it so that SQL written by a model can do no harm.

Source of the schema: AirQA-Real (spec 4.5), the eight tables and their columns by name and type. Summaries, `tldr` and `tags`
are written by a language model there; here they stay NULL.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vivavoce.errors import DataError

if TYPE_CHECKING:
    import duckdb

TABLES: Mapping[str, Mapping[str, str]] = {
    "metadata": {
        "paper_id": "UUID PRIMARY KEY",
        "title": "VARCHAR",
        "abstract": "VARCHAR",
        "num_pages": "INTEGER",
        "conference_full": "VARCHAR",
        "conference_abbreviation": "VARCHAR",
        "pub_year": "INTEGER",
        "volume": "VARCHAR",
        "download_url": "VARCHAR",
        "bibtex": "VARCHAR",
        "authors": "VARCHAR[]",
        "pdf_path": "VARCHAR",
        "tldr": "VARCHAR",
        "tags": "VARCHAR[]",
    },
    "pages": {
        "page_id": "UUID PRIMARY KEY",
        "page_number": "INTEGER",
        "page_width": "INTEGER",
        "page_height": "INTEGER",
        "page_content": "VARCHAR",
        "page_summary": "VARCHAR",
        "ref_paper_id": "UUID REFERENCES metadata(paper_id)",
    },
    "images": {
        "image_id": "UUID PRIMARY KEY",
        "image_caption": "VARCHAR",
        "image_summary": "VARCHAR",
        "bounding_box": "INTEGER[4]",
        "ordinal": "INTEGER",
        "ref_paper_id": "UUID REFERENCES metadata(paper_id)",
        "ref_page_id": "UUID REFERENCES pages(page_id)",
    },
    "chunks": {
        "chunk_id": "UUID PRIMARY KEY",
        "text_content": "VARCHAR",
        "ordinal": "INTEGER",
        "ref_paper_id": "UUID REFERENCES metadata(paper_id)",
        "ref_page_id": "UUID REFERENCES pages(page_id)",
    },
    "tables": {
        "table_id": "UUID PRIMARY KEY",
        "table_caption": "VARCHAR",
        "table_content": "VARCHAR",
        "table_summary": "VARCHAR",
        "bounding_box": "INTEGER[4]",
        "ordinal": "INTEGER",
        "ref_paper_id": "UUID REFERENCES metadata(paper_id)",
        "ref_page_id": "UUID REFERENCES pages(page_id)",
    },
    "sections": {
        "section_id": "UUID PRIMARY KEY",
        "section_title": "VARCHAR",
        "section_content": "VARCHAR",
        "section_summary": "VARCHAR",
        "ordinal": "INTEGER",
        "page_numbers": "INTEGER[]",
        "ref_paper_id": "UUID REFERENCES metadata(paper_id)",
    },
    "equations": {
        "equation_id": "UUID PRIMARY KEY",
        "equation_content": "VARCHAR",
        "ordinal": "INTEGER",
        "ref_paper_id": "UUID REFERENCES metadata(paper_id)",
        "ref_page_id": "UUID REFERENCES pages(page_id)",
    },
    "reference": {
        "reference_id": "UUID PRIMARY KEY",
        "reference_content": "VARCHAR",
        "ordinal": "INTEGER",
        "ref_paper_id": "UUID REFERENCES metadata(paper_id)",
        "ref_page_id": "UUID REFERENCES pages(page_id)",
    },
}
PRIMARY_KEYS: Mapping[str, str] = {table: next(iter(columns)) for table, columns in TABLES.items()}
Rows = dict[str, list[dict[str, Any]]]  # table -> rows, each column -> value


def schema_sql() -> str:
    """The CREATE TABLE statements, in the order of their references."""
    statements = []
    for table, columns in TABLES.items():
        body = ",\n  ".join(f"{name} {kind}" for name, kind in columns.items())
        statements.append(f"CREATE TABLE {table} (\n  {body}\n);")
    return "\n".join(statements)


def write_database(path: Path, papers: Iterable[Rows], *, batch: int = 64) -> dict[str, int]:
    """Fill a new DuckDB file from the rows of papers, `batch` papers at a time; returns the rows of each table.

    Columns that a row leaves out are NULL. `path` must not exist.
    """
    import duckdb

    counts = dict.fromkeys(TABLES, 0)
    pending: Rows = {table: [] for table in TABLES}
    with duckdb.connect(str(path)) as connection:
        connection.execute(schema_sql())
        for number, rows in enumerate(papers, 1):
            for table, values in rows.items():
                pending[table] += values
                counts[table] += len(values)
            if number % batch == 0:
                _flush(connection, pending)
        _flush(connection, pending)
        connection.execute("CHECKPOINT")
    return counts


def _flush(connection: duckdb.DuckDBPyConnection, pending: Rows) -> None:
    import pyarrow as pa

    kinds = {"UUID": pa.string(), "VARCHAR": pa.string(), "INTEGER": pa.int32()}
    lists = {"VARCHAR[]": pa.list_(pa.string()), "INTEGER[]": pa.list_(pa.int32()), "INTEGER[4]": pa.list_(pa.int32(), 4)}
    for table, columns in TABLES.items():
        if not pending[table]:
            continue
        types = {name: {**kinds, **lists}[kind.split(" ")[0]] for name, kind in columns.items()}
        arrays = [pa.array([row.get(name) for row in pending[table]], type=kind) for name, kind in types.items()]
        connection.register("batch", pa.table(arrays, names=list(columns)))
        connection.execute(f"INSERT INTO {table} SELECT * FROM batch")  # noqa: S608 the names are constants above
        connection.unregister("batch")
        pending[table].clear()


def connect_read_only(path: Path, *, threads: int = 1, memory: str = "1GB") -> duckdb.DuckDBPyConnection:
    """Open a corpus so that even hostile SQL can only read its tables.

    No file, network, ATTACH, COPY, INSTALL or LOAD; settings are locked; memory is capped and nothing is spilled to disk.
    Close it when done. Connections of one process to one file share an instance, so all must ask for the same limits.
    DataError if there is no such database.
    """
    import duckdb

    if not path.is_file():
        raise DataError(f"{path}: no such database. It is made by the ingest step.")
    config: dict[str, str | bool | int | float | list[str]] = {
        "threads": threads,
        "memory_limit": memory,
        "max_temp_directory_size": "0B",
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "allow_community_extensions": False,
        "python_enable_replacements": False,
        "enable_external_access": False,
        "lock_configuration": True,
    }
    try:
        return duckdb.connect(str(path), read_only=True, config=config)
    except duckdb.ConnectionException as error:
        raise DataError(f"{path}: already open in this process with other limits (threads, memory): {error}") from None
    except duckdb.Error as error:
        raise DataError(
            f"{path}: not a readable DuckDB file: {error}. Delete the corpus folder to have it ingested again."
        ) from None


def fingerprint(path: Path) -> dict[str, str]:
    """The sha256 of each table's rows, sorted by primary key: equal content gives equal digests, whatever the file's bytes."""
    digests = {}
    with connect_read_only(path) as connection:
        for table, key in PRIMARY_KEYS.items():
            whole = hashlib.sha256()
            cursor = connection.execute(f"SELECT * FROM {table} ORDER BY {key}")  # noqa: S608 the names are constants above
            while rows := cursor.fetchmany(1000):
                for row in rows:
                    whole.update(repr(row).encode("utf-8", "surrogatepass") + b"\n")
            digests[table] = whole.hexdigest()
    return digests


def select(connection: duckdb.DuckDBPyConnection, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    """All rows of a statement of our own, by a cursor of its own (safe from several threads)."""
    with connection.cursor() as cursor:
        return cursor.execute(sql, list(values)).fetchall()
