"""Aggregate an experiment's judgements into measures.csv, and report where the two scorers disagree."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from vivavoce import cli
from vivavoce.config.compose import thaw
from vivavoce.plan import Plan
from vivavoce.provenance import write_manifest
from vivavoce.records import Measure
from vivavoce.steps.progress import Progress
from vivavoce.tables.aggregate import mean_over_seeds
from vivavoce.tables.collect import Source, collect
from vivavoce.tables.differences import write_differences
from vivavoce.tables.measures import write_measures


def main(options: argparse.Namespace) -> None:
    """Read each judgements file once; write measures.csv and differences.csv.gz."""
    config = thaw(options.config)
    plan = Plan(config, cli.ROOT)
    sources = [
        Source(
            path=Path(f"results/judgements/{job.path}/{judge}.jsonl"),
            row=(job.benchmark, job.agent, job.model, judge, str(job.seed)),
            questions=Path(f"results/data/{job.benchmark}/questions.jsonl"),
            grader=config.benchmark[job.benchmark].grade,
            experiment=config.name,
        )
        for job, judge in plan.judged
    ]
    measures: list[Measure] = []
    progress = Progress(f"aggregate {config.name}", len(sources), "files")

    def lines() -> Iterator[tuple[str, ...]]:
        for found, disagreements in collect(sources, options.threads):
            measures.extend(found)
            progress.step()
            yield from disagreements

    disagreements = write_differences(options.differences, lines())
    progress.end()
    write_measures(options.output, [*measures, *mean_over_seeds(measures)])
    write_manifest(
        options.output,
        step="aggregate",
        key={"experiment": config.name},
        inputs={path: Path(path) for path in plan.judgements()},
        digest=options.digest,
        metrics={**_headline(measures), "differences": disagreements},
        artifacts=[options.output.name, options.differences.name],
    )


def _headline(measures: list[Measure]) -> dict[str, float | None]:
    """What the parent run shows: every measure over all questions, failures counted as wrong."""
    return {
        "/".join((item.benchmark, item.agent, item.model, item.judge, f"s{item.seed}", item.profile, item.measure)): item.value
        for item in measures
        if item.slice == "all" and item.policy == "failures_wrong"
    }


if __name__ == "__main__":
    arguments = cli.parser(__doc__)
    arguments.add_argument("--output", type=Path, required=True, help="measures.csv")
    arguments.add_argument("--threads", type=int, default=1)
    arguments.add_argument("--differences", type=Path, required=True, help="differences.csv.gz")
    cli.run(main, arguments)
