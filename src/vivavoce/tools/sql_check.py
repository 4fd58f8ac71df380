"""What SQL an agent may run: exactly one SELECT over the corpus's own tables.

The first of three walls; the others are the locked connection and the limits of the process that runs it (`sql_worker`).
Upstream opens the file for writing and runs anything (utils/database_utils.py:136@596e644e).
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache

from vivavoce.tools.errors import ActionError

MAX_CHARACTERS = 10_000
CATALOGUE = {("information_schema", "tables"), ("information_schema", "columns")}

# Functions that touch files, settings or other queries; the engine refuses most of them too.
_FORBIDDEN = re.compile(
    r"^(read_|scan_|glob$|query|sniff_|parquet_|duckdb_|pragma_|current_setting|getvariable|getenv|pg_|write_|copy_|load|"
    r"install|sleep|nextval|currval|set_|http_|seq_scan|checkpoint|force_checkpoint|arrow_|pandas_|python_|storage_info|which_secret)"
)


def check_select(sql: str, tables: Collection[str]) -> None:
    """Raise ActionError unless `sql` is one SELECT (with or without CTEs and set operations) that reads only `tables`."""
    reason = _fault(sql, frozenset(tables))
    if reason:
        raise ActionError(reason)


@lru_cache(maxsize=1024)
def _fault(sql: str, tables: frozenset[str]) -> str:
    from sqlglot import exp, parse
    from sqlglot.errors import SqlglotError

    if len(sql) > MAX_CHARACTERS:
        return f"the statement has {len(sql)} characters; at most {MAX_CHARACTERS} are run"
    try:
        statements = [item for item in parse(sql, read="duckdb") if item is not None]
    except SqlglotError as error:
        return f"the statement cannot be parsed: {_first_line(str(error))}"
    except RecursionError:
        return "the statement is nested too deeply"
    if len(statements) != 1:
        return f"expected exactly one statement, found {len(statements)}"
    [root] = statements
    if not isinstance(root, exp.Query):
        return f"only a SELECT statement may be run, found {root.key.upper()}"
    known = {name.lower() for name in tables} | {item.alias.lower() for item in root.find_all(exp.CTE)}
    for node in root.walk():
        reason = _fault_of_node(node, known, sorted(tables))
        if reason:
            return reason
    return ""


def _fault_of_node(node: object, known: set[str], tables: list[str]) -> str:
    from sqlglot import exp

    if isinstance(node, (exp.DML, exp.DDL, exp.Command, exp.Into)) and not isinstance(node, exp.Query):
        return f"only a SELECT statement may be run, found {node.key.upper()}"
    if isinstance(node, exp.Table):
        if not isinstance(node.this, exp.Identifier):
            return "a table function cannot be read from, only tables"
        place = (node.db.lower(), node.name.lower())
        if node.catalog or (place[0] not in ("", "main") and place not in CATALOGUE):
            return f"only the corpus's tables may be read ({', '.join(tables)})"
        if place not in CATALOGUE and place[1] not in known:
            return f"there is no table {node.name!r}; the tables are {', '.join(tables)}"
    if isinstance(node, exp.Func):
        name = (node.name if isinstance(node, exp.Anonymous) else node.sql_name()).lower()
        if _FORBIDDEN.match(name):
            return f"the function {name} may not be called"
    return ""


def _first_line(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text).strip().split("\n")[0][:300]
