"""Print what an experiment would cost before any call is made: calls, tokens and US dollars, as ranges."""

from __future__ import annotations

import argparse
from collections import Counter
from importlib import import_module
from pathlib import Path

from vivavoce import cli
from vivavoce.config.base import load
from vivavoce.config.compose import thaw
from vivavoce.config.experiment import ExperimentConfig
from vivavoce.files import write_text
from vivavoce.models.estimate import Estimate
from vivavoce.models.loop import run
from vivavoce.plan import Plan
from vivavoce.steps.estimate import of_judging, of_rollouts
from vivavoce.steps.library import library_of
from vivavoce.steps.rollout import questions_of


def main(options: argparse.Namespace) -> None:
    """Write and print estimate.md."""
    config = thaw(options.config)
    rows = run(_rows(config))
    total = sum((found for _, found in rows), Estimate())
    lines = [f"* {label}: {found}" for label, found in [*rows, ("total", total)]]
    head = f"**Estimate for {config.name}** (low: one short call each; high: every cap reached; stored calls are free)"
    text = f"{head}\n\n" + "\n".join(lines) + "\n"
    write_text(options.output, text)
    print(text)


async def _rows(config: ExperimentConfig) -> list[tuple[str, Estimate]]:
    rows = []
    plan = Plan(config, cli.ROOT)
    pairs = {(job.benchmark, job.agent, job.model): None for job in plan.jobs if job.model in config.model}
    for benchmark, name, model in pairs:
        if not config.model[model].model:
            continue  # an offline baseline: nothing is paid
        questions = questions_of(Path(f"results/data/{benchmark}/questions.jsonl"), config.limit)
        choice = config.agent[name]
        library = library_of(config, name, benchmark)
        agent = load(choice.run, f"conf/agent/{name}.yaml: run")(name, choice.options)
        found = await of_rollouts(agent, config.model[model], questions, library, config.seeds)
        rows.append((f"rollout {benchmark}/{name}/{model}", found))
    for (benchmark, name), count in Counter((job.benchmark, judge) for job, judge in plan.judged).items():
        judge = config.judge[name]
        if judge.model and judge.model in config.model and config.model[judge.model].model:
            grader = import_module(config.benchmark[benchmark].grade)
            questions = questions_of(Path(f"results/data/{benchmark}/questions.jsonl"), config.limit)
            found = await of_judging(grader, config.model[judge.model], questions, count)
            rows.append((f"judge {benchmark}, {count} rollout file(s), by {name}", found))
    return rows


if __name__ == "__main__":
    arguments = cli.parser(__doc__)
    arguments.add_argument("--output", type=Path, required=True, help="estimate.md")
    cli.run(main, arguments)
