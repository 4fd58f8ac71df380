"""Ingest a corpus: papers -> DuckDB tables and a search index; what cannot be read is skipped and named."""

from __future__ import annotations

import argparse
import logging
from pathlib import Path

from vivavoce import cli
from vivavoce.config.compose import thaw
from vivavoce.corpus.catalogue import read_catalogue
from vivavoce.corpus.download import download_all
from vivavoce.corpus.ingest import ingest
from vivavoce.provenance import write_manifest
from vivavoce.steps.fetched import fetched
from vivavoce.steps.progress import Progress

log = logging.getLogger(__name__)


def main(options: argparse.Namespace) -> None:
    """Build results/corpora/<corpus>/ and its manifest."""
    config = thaw(options.config).corpus[options.corpus]
    where = f"conf/corpus/{options.corpus}.yaml"
    files, _ = fetched(config.assets, where)
    inputs = {**files, **({"pdfs": cli.ROOT / config.pdfs} if config.pdfs else {})}
    stages: dict[str, Progress] = {}

    def progress(stage: str, done: int, total: int) -> None:
        counter = stages.setdefault(stage, Progress(f"ingest {options.corpus}: {stage}", total, "items"))
        counter.step(done - counter.done)

    if settings := config.download_settings:
        inputs["pdfs"] = Path("results/data/pdfs", options.corpus)
        for failure in download_all(read_catalogue(files["catalogue"]), inputs["pdfs"], settings, progress):
            log.warning("not fetched: %s (%s): %s", failure.url, failure.paper, failure.reason)
    contents = ingest(
        config, inputs, options.output.parent, processes=options.threads, threads=options.threads, progress=progress
    )
    for item in contents["skipped"]:
        log.warning("skipped %s: %s", item["name"], item["reason"])
    log.info("ingest %s: %d papers, %d skipped", options.corpus, contents["papers"], len(contents["skipped"]))
    write_manifest(
        options.output,
        step="ingest",
        key={"corpus": options.corpus},
        inputs=files,
        digest=options.digest,
        metrics={
            **{f"rows/{table}": count for table, count in sorted(contents["rows"].items())},
            **{f"skipped/{reason}": count for reason, count in sorted(contents["skipped_counts"].items())},
        },
        artifacts=["manifest.json"],
    )


if __name__ == "__main__":
    arguments = cli.parser(__doc__)
    arguments.add_argument("--corpus", required=True)
    arguments.add_argument("--threads", type=int, default=2)
    arguments.add_argument("--output", type=Path, required=True, help="papers.duckdb")
    cli.run(main, arguments)
