"""Have one judge grade one rollout file: a line a (question, measure, profile)."""

from __future__ import annotations

import argparse
from importlib import import_module
from pathlib import Path

from vivavoce import cli
from vivavoce.config.compose import thaw
from vivavoce.models.loop import run
from vivavoce.provenance import write_manifest
from vivavoce.steps.bench import judge_with
from vivavoce.steps.pool import OrderedLines


def main(options: argparse.Namespace) -> None:
    """Write the judgements and their manifest; fails at the end if the judge was down for too many questions."""
    config = thaw(options.config)
    names = {
        "benchmark": options.benchmark,
        "agent": options.agent,
        "model": options.model,
        "seed": f"s{options.seed}",
        "judge": options.judge,
    }
    label = "judge " + "/".join(names.values())
    grader = import_module(config.benchmark[options.benchmark].grade)
    out = OrderedLines()
    counts = run(judge_with(config, options, grader, out, label))
    counts.check(config.error_share, label)
    out.write(options.output)
    write_manifest(
        options.output,
        step="judge",
        key=names,
        inputs={"questions.jsonl": options.questions, "rollouts.jsonl": options.rollouts},
        digest=options.digest,
        metrics={"judgements": counts.judgements, "unscored": counts.unscored, **counts.means()},
        artifacts=[options.output.name],
    )


if __name__ == "__main__":
    arguments = cli.parser(__doc__)
    arguments.add_argument("--benchmark", required=True)
    arguments.add_argument("--agent", required=True)
    arguments.add_argument("--model", required=True)
    arguments.add_argument("--seed", type=int, required=True)
    arguments.add_argument("--judge", required=True)
    arguments.add_argument("--questions", type=Path, required=True)
    arguments.add_argument("--rollouts", type=Path, required=True)
    arguments.add_argument("--output", type=Path, required=True)
    cli.run(main, arguments)
