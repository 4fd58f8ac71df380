"""Ingest a corpus: papers -> DuckDB tables and a search index, with a manifest that names what was skipped."""

from __future__ import annotations

import argparse
from pathlib import Path

from vivavoce import cli
from vivavoce.config.compose import thaw
from vivavoce.corpus.ingest import ingest


def main(options: argparse.Namespace) -> None:
    """Build results/corpora/<corpus>/."""
    config = thaw(options.config)
    print(config.corpus[options.corpus], ingest)


if __name__ == "__main__":
    arguments = cli.parser(__doc__)
    arguments.add_argument("--corpus", required=True)
    arguments.add_argument("--output", type=Path, required=True, help="manifest.json")
    cli.run(main, arguments)
