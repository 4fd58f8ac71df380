"""Aggregate an experiment's judgements into measures.csv, and report where the two scorers disagree."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from pathlib import Path

from vivavoce import cli
from vivavoce.config.compose import thaw
from vivavoce.plan import Plan
from vivavoce.provenance import write_manifest
from vivavoce.records import Measure
from vivavoce.steps.progress import Progress
from vivavoce.tables.aggregate import aggregate, mean_over_seeds
from vivavoce.tables.differences import differences, write_differences
from vivavoce.tables.measures import write_measures
from vivavoce.tables.sample import Questions, Sample


def main(options: argparse.Namespace) -> None:
    """Read each judgements file once; write measures.csv and differences.csv.gz."""
    config = thaw(options.config)
    plan = Plan(config, cli.ROOT)
    questions = {name: Questions(Path(f"results/data/{name}/questions.jsonl")) for name in config.benchmark}
    specs = {name: import_module(benchmark.grade).MEASURES for name, benchmark in config.benchmark.items()}
    measures: list[Measure] = []
    progress = Progress(f"aggregate {config.name}", len(plan.judgements()), "files")

    def lines() -> Iterator[tuple[str, ...]]:
        for job in plan.jobs:
            for judge in sorted(config.judge):
                sample = Sample(Path(f"results/judgements/{job.path}/{judge}.jsonl"), questions[job.benchmark])
                row = {
                    "benchmark": job.benchmark,
                    "agent": job.agent,
                    "model": job.model,
                    "judge": judge,
                    "seed": str(job.seed),
                }
                line = partial(Measure, experiment=config.name, **row)
                measures.extend(aggregate(sample, questions[job.benchmark], specs[job.benchmark], line))
                progress.step()
                yield from differences(tuple(row.values()), sample, questions[job.benchmark])

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
    arguments.add_argument("--differences", type=Path, required=True, help="differences.csv.gz")
    cli.run(main, arguments)
