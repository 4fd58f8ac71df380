"""Mirror the finished steps of an experiment into MLflow; with --follow, go on until the workflow ends."""

from __future__ import annotations

import argparse
import os
import signal
import threading
from pathlib import Path

from vivavoce import cli
from vivavoce.config.compose import thaw
from vivavoce.plan import Plan
from vivavoce.tracking.mirror import Mirror
from vivavoce.workflow import Workflow


def main(options: argparse.Namespace) -> None:
    """Sync once, or again and again until SIGTERM or the end of the parent process, and then a last time."""
    config = thaw(options.config)
    if not config.tracking.uri:
        return
    workflow = Workflow(Plan(config, cli.ROOT))
    mirror = Mirror(
        config.tracking.uri,
        config.name,
        Path("results/tracking") / f"{config.name}.json",
        options.config,
        megabytes=config.tracking.artifact_megabytes,
    )
    manifests = workflow.manifests()
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    parent = os.getppid()
    store = Path(workflow.tracking()[0])
    while options.follow and not ended.wait(1.0) and os.getppid() == parent:
        if store.is_file():
            mirror.sync(manifests)
    mirror.sync(manifests)
    mirror.close()


if __name__ == "__main__":
    arguments = cli.parser(__doc__)
    arguments.add_argument("--follow", action="store_true", help="mirror until the parent process ends")
    cli.run(main, arguments)
