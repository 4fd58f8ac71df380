"""Write the recorded calls that the project ships: the calls behind a live run's results, and no others.

A call that is recorded already with the same reply keeps its line, so that recording again changes only what changed.
"""

from __future__ import annotations

import argparse
import gzip
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec

from vivavoce.errors import DataError, VivavoceError
from vivavoce.files import atomic, read_records, sample
from vivavoce.models.__main__ import export_stores
from vivavoce.models.exchange import Line, read_lines
from vivavoce.records import Judgement, Rollout


def main(results: Path, stores: Path, out: Path) -> str:
    """Write `out` (.jsonl.gz) from the call stores below `stores`; returns how many calls and bytes it holds."""
    used = set(used_calls(results))
    with tempfile.TemporaryDirectory() as folder:
        # Two jobs that made the same call may have got other replies (or ids): all replay the first.
        export_stores(Path(folder) / "all.jsonl", [stores], conflicts="keep")
        found = {line.key: line for line in lines(Path(folder) / "all.jsonl") if line.key in used}
    if missing := sorted(used - found.keys()):
        raise DataError(
            f"{stores}: {len(missing)} call(s) behind {results} were not stored, most likely cut at max_tokens: "
            f"{sample(missing)}. They could not be replayed: change the model's max_tokens or stop and record again."
        )
    kept = {line.key: line for line in lines(out)} if out.is_file() else {}
    out.parent.mkdir(parents=True, exist_ok=True)
    with atomic(out, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as stream:
        for key, line in sorted(found.items()):
            old = kept.get(key)
            stream.write(msgspec.json.encode(old if old and reply(old) == reply(line) else line) + b"\n")
    return f"{out}: {len(found)} calls, {out.stat().st_size / 1e6:.2f} MB"


def used_calls(results: Path) -> Iterator[str]:
    """The keys of the calls that rollouts and judgements name."""
    for path in sorted((results / "rollouts").rglob("*.jsonl")):
        yield from (key for rollout in read_records(path, Rollout) for turn in rollout.turns for key in turn.calls if key)
    for path in sorted((results / "judgements").rglob("*.jsonl")):
        yield from (key for judgement in read_records(path, Judgement) for key in judgement.calls if key)


def lines(path: Path) -> Iterator[Line]:
    """The calls of an export that show no image."""
    for line in read_lines(path):
        if isinstance(line, Line):
            yield line


def reply(line: Line) -> object:
    """What a recorded call says and how many tokens that was, without times and ids."""
    response = msgspec.json.decode(line.response)
    return response["choices"], response.get("usage")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, help="results/ of a live run")
    parser.add_argument("stores", type=Path, help="its VIVAVOCE_STORE")
    parser.add_argument("out", type=Path, help="recorded/<experiment>.jsonl.gz")
    options = parser.parse_args()
    try:
        print(main(options.results, options.stores, options.out))
    except VivavoceError as error:
        sys.exit(f"error: {error}")
