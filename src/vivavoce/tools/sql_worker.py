"""The process that runs agents' SQL: started by `vivavoce.tools.database`, by path, with an empty environment.

It has its own process because DuckDB bounds neither the memory nor the time of a single function call: `range(1000000000)`
takes 20 GB under a memory_limit of 256 MB and does not heed an interrupt (measured with 2.0.1). Here the kernel bounds
memory (RLIMIT_AS), files written (RLIMIT_FSIZE 0) and time (SIGALRM, not handled).

Reads one JSON line {"sql", "rows", "characters"} and writes one {"columns", "rows", "more"} or {"error", "kind"}.
Arguments: database, seconds, megabytes.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
from typing import Any

GRACE = 2.0  # seconds from the polite interrupt to the kernel's


def main() -> None:
    """Serve until standard input ends."""
    database, seconds, megabytes = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    _limit(megabytes)
    connection = _open(database, megabytes)
    for line in sys.stdin:
        replies.write(json.dumps(_serve(connection, json.loads(line), seconds), ensure_ascii=True) + "\n")
        replies.flush()


def _limit(megabytes: int) -> None:
    with contextlib.suppress(ImportError):
        import resource

        room = (megabytes * 2 + 2048) * 1024 * 1024  # address space: the interpreter, DuckDB's own arenas, and the query
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_AS, (room, room))
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _open(database: str, megabytes: int) -> Any:
    """A locked connection: the corpus attached read-only, nothing else reachable, no setting changeable."""
    import duckdb

    connection = duckdb.connect(
        ":memory:",
        config={
            "threads": "1",
            "memory_limit": f"{megabytes}MB",
            "temp_directory": "",
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "allow_community_extensions": "false",
            "python_enable_replacements": "false",
        },
    )
    path = database.replace("'", "''")
    connection.execute(f"ATTACH '{path}' AS library (READ_ONLY)")
    connection.execute("USE library")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    return connection


def _serve(connection: Any, request: dict[str, Any], seconds: float) -> dict[str, Any]:
    cursor = connection.cursor()
    polite = threading.Timer(seconds, cursor.interrupt)
    polite.daemon = True
    polite.start()
    signal.setitimer(signal.ITIMER_REAL, seconds + GRACE)
    try:
        cursor.execute("USE library")  # a cursor does not inherit it
        cursor.execute(request["sql"])
        columns = [str(item[0]) for item in cursor.description or []]
        rows = cursor.fetchmany(request["rows"] + 1)
        most = request["characters"]
        shown = [[_plain(cell, most) for cell in row] for row in rows[: request["rows"]]]
    except Exception as error:  # whatever the engine raises is the agent's to read
        return {"error": str(error).strip().split("\n")[0], "kind": type(error).__name__}
    else:
        return {"columns": columns, "rows": shown, "more": len(rows) > request["rows"]}
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        polite.cancel()
        cursor.close()


def _plain(cell: Any, most: int, depth: int = 0) -> Any:
    """A cell as JSON has it; texts cut at `most` characters, lists at 1,000 items."""
    if cell is None or isinstance(cell, (bool, int, float)):
        return cell
    if isinstance(cell, (list, tuple)) and depth < 4:
        return [_plain(item, most, depth + 1) for item in cell[:1000]]
    if isinstance(cell, dict) and depth < 4:
        return {str(key)[:200]: _plain(value, most, depth + 1) for key, value in list(cell.items())[:200]}
    text = str(cell)
    return text if len(text) <= most else text[:most] + " ..."


if __name__ == "__main__":
    main()
