"""Ship, merge and diff call stores:

python -m vivavoce.models export OUT.jsonl[.gz] STORE.sqlite|FOLDER ...     all their calls in one sorted file
python -m vivavoce.models import STORE.sqlite IN.jsonl[.gz] ... [--conflicts error|keep|replace]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from vivavoce.errors import DataError, VivavoceError
from vivavoce.models.exchange import Conflict
from vivavoce.models.store import CallStore


def export_stores(out: Path, sources: Sequence[Path], *, conflicts: Conflict = "error") -> int:
    """Write the calls of stores (or of all stores below a folder) into one file; returns how many. Equal calls stand once."""
    stores = [store for source in sources for store in (sorted(source.rglob("*.sqlite")) if source.is_dir() else [source])]
    if not stores:
        raise DataError(f"no call store (*.sqlite) in {', '.join(map(str, sources))}: expected the folder of VIVAVOCE_STORE.")
    with tempfile.TemporaryDirectory() as folder, CallStore(Path(folder) / "all.sqlite") as everything:
        lines = Path(folder) / "one.jsonl"
        for path in stores:
            with CallStore(path, readonly=True) as store:
                store.export_jsonl(lines)
            everything.import_jsonl(lines, conflicts=conflicts)
        return everything.export_jsonl(out)


def import_files(path: Path, sources: Sequence[Path], *, conflicts: Conflict = "error") -> int:
    """Merge exports into a store; returns how many calls were new."""
    with CallStore(path) as store:
        return sum(store.import_jsonl(source, conflicts=conflicts) for source in sources)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m vivavoce.models", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("action", choices=["export", "import"])
    parser.add_argument("target", type=Path)
    parser.add_argument("sources", type=Path, nargs="+")
    parser.add_argument("--conflicts", choices=["error", "keep", "replace"], default="error")
    options = parser.parse_args(arguments)
    work = export_stores if options.action == "export" else import_files
    try:
        print(f"{work(options.target, options.sources, conflicts=options.conflicts)} calls")
    except VivavoceError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
