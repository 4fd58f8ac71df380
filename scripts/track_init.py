"""Create the tracking store once, before anything logs."""

from __future__ import annotations

import argparse
from pathlib import Path

from vivavoce import cli
from vivavoce.config.compose import thaw
from vivavoce.files import write_json
from vivavoce.tracking.store import initialise


def main(options: argparse.Namespace) -> None:
    """Initialise the store and the experiment in it, and leave a marker."""
    config = thaw(options.config)
    initialise(config.tracking.uri, config.name)
    write_json(options.output, {"uri": config.tracking.uri})


if __name__ == "__main__":
    arguments = cli.parser(__doc__)
    arguments.add_argument("--output", type=Path, required=True, help="the marker")
    cli.run(main, arguments)
