"""Print one table of an experiment as Markdown, CSV and LaTeX, beside the published numbers."""

from __future__ import annotations

import argparse
from importlib import import_module
from pathlib import Path

from vivavoce import cli
from vivavoce.config.compose import thaw
from vivavoce.files import write_text
from vivavoce.provenance import write_manifest
from vivavoce.tables.grid import build
from vivavoce.tables.measures import read_measures
from vivavoce.tables.render import comma_separated, latex, markdown


def main(options: argparse.Namespace) -> None:
    """Write tables/<name>.md, .csv and .tex."""
    config = thaw(options.config)
    table = config.table[options.table]
    specs = {
        name: {spec.name: spec for spec in import_module(config.benchmark[name].grade).MEASURES}
        for name in table.benchmarks
        if name in config.benchmark
    }
    notes = [f"Only the first {config.limit} questions of each benchmark."] if config.limit else []
    if any(config.benchmark[name].invented for name in specs):
        notes.append("The specimen is invented: its numbers compare with nothing published.")
    grid = build(table, read_measures(options.measures), specs, notes)
    for suffix, text in ((".csv", comma_separated(grid)), (".tex", latex(grid)), (".md", markdown(grid))):
        write_text(options.output.with_suffix(suffix), text)
    write_manifest(
        options.output,
        step="table",
        key={"table": options.table},
        inputs={"measures.csv": options.measures},
        digest=options.digest,
        artifacts=[options.output.with_suffix(suffix).name for suffix in (".md", ".csv", ".tex")],
    )


if __name__ == "__main__":
    arguments = cli.parser(__doc__)
    arguments.add_argument("--table", required=True)
    arguments.add_argument("--measures", type=Path, required=True, help="measures.csv")
    arguments.add_argument("--output", type=Path, required=True, help="tables/<name>.md")
    cli.run(main, arguments)
