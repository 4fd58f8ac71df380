"""Draw one figure of an experiment as SVG and PNG."""

from __future__ import annotations

import argparse
from pathlib import Path

from vivavoce import cli
from vivavoce.config.base import load
from vivavoce.config.compose import thaw
from vivavoce.plots.drawing import Drawing, save
from vivavoce.provenance import write_manifest
from vivavoce.tables.measures import read_measures
from vivavoce.tables.specs import specs_of


def main(options: argparse.Namespace) -> None:
    """Write plots/<name>.svg and .png."""
    config = thaw(options.config)
    plot = config.plot[options.plot]
    specs = specs_of(config, config.benchmark)
    drawing = Drawing(title=plot.title, measures=read_measures(options.measures), specs=specs, options=plot.options)
    files = save(load(plot.draw, f"conf/plot/{options.plot}.yaml: draw")(drawing), options.output)
    write_manifest(
        options.output,
        step="plot",
        key={"plot": options.plot},
        inputs={"measures.csv": options.measures},
        digest=options.digest,
        artifacts=[path.name for path in files],
    )


if __name__ == "__main__":
    arguments = cli.parser(__doc__)
    arguments.add_argument("--plot", required=True)
    arguments.add_argument("--measures", type=Path, required=True, help="measures.csv")
    arguments.add_argument("--output", type=Path, required=True, help="plots/<name>.svg")
    cli.run(main, arguments)
