"""Fetch a benchmark's pinned files (mirror, project or network), verify them, and read them into questions."""

from __future__ import annotations

import argparse
from pathlib import Path

from msgspec.structs import replace

from vivavoce import cli
from vivavoce.config.base import load
from vivavoce.config.compose import thaw
from vivavoce.errors import DataError
from vivavoce.files import by_id, write_records
from vivavoce.provenance import write_manifest
from vivavoce.steps.fetched import fetched


def main(options: argparse.Namespace) -> None:
    """Write questions.jsonl, sorted as the reader gives them, and its manifest."""
    config = thaw(options.config)
    benchmark = config.benchmark[options.benchmark]
    where = f"conf/benchmark/{options.benchmark}.yaml"
    files, absent = fetched(benchmark.assets, where)
    read = load(benchmark.read, f"{where}: read")
    nothing = absent and not files  # all that it reads is optional, and missing: a benchmark without questions
    found = () if nothing else read(files, benchmark.options)
    named = (replace(question, benchmark=options.benchmark) for question in found)
    questions = by_id(named, "id", where)
    if not questions and not absent:
        raise DataError(f"{where}: no question matches its options.")
    write_records(options.output, questions.values())
    write_manifest(
        options.output,
        step="fetch",
        key={"benchmark": options.benchmark},
        inputs=files,
        digest=options.digest,
        metrics={"questions": len(questions)},
        artifacts=[options.output.name],
        assets={name: asset.model_dump(mode="json") for name, asset in benchmark.assets.items()},
        absent=absent,
    )


if __name__ == "__main__":
    arguments = cli.parser(__doc__)
    arguments.add_argument("--benchmark", required=True)
    arguments.add_argument("--output", type=Path, required=True, help="questions.jsonl")
    cli.run(main, arguments)
