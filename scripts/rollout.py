"""Let one agent with one model answer one benchmark: a line a question."""

from __future__ import annotations

import argparse
from pathlib import Path

from vivavoce import cli
from vivavoce.config.base import load
from vivavoce.config.compose import thaw
from vivavoce.models.loop import run
from vivavoce.provenance import write_manifest
from vivavoce.steps.pool import OrderedLines
from vivavoce.steps.rollout import Tally, questions_of
from vivavoce.steps.seat import answer_with, import_from


def main(options: argparse.Namespace) -> None:
    """Write the rollouts and their manifest; fails at the end if too many questions ended in an error."""
    config = thaw(options.config)
    names = {"benchmark": options.benchmark, "agent": options.agent, "model": options.model, "seed": f"s{options.seed}"}
    label = "rollout " + "/".join(names.values())
    questions = questions_of(options.questions, config.limit)
    choice = config.agent[options.agent]
    agent = load(choice.run, f"conf/agent/{options.agent}.yaml: run")
    out = OrderedLines()
    tally: Tally
    if choice.sources or choice.folder:
        tally = import_from(agent, choice, options, questions, out, label, limited=config.limit > 0)
    else:
        tally = run(answer_with(agent, config, options, questions, out, label))
    tally.check(config.error_share, label)
    out.write(options.output)
    usage = tally.usage
    write_manifest(
        options.output,
        step="rollout",
        key=names,
        inputs={"questions.jsonl": options.questions, **{path.name: path for path in options.imported}},
        digest=options.digest,
        metrics={
            **{f"outcome/{name}": count for name, count in sorted(tally.outcomes.items())},
            "turns": tally.turns,
            "calls": usage.calls,
            "prompt_tokens": usage.prompt_tokens,
            "completion_tokens": usage.completion_tokens,
            "cost_usd": usage.cost,
        },
        artifacts=[options.output.name],
    )


if __name__ == "__main__":
    arguments = cli.parser(__doc__)
    arguments.add_argument("--benchmark", required=True)
    arguments.add_argument("--agent", required=True)
    arguments.add_argument("--model", required=True)
    arguments.add_argument("--seed", type=int, required=True)
    arguments.add_argument("--questions", type=Path, required=True)
    arguments.add_argument("--imported", type=Path, nargs="*", default=[], help="answers made elsewhere")
    arguments.add_argument("--output", type=Path, required=True)
    cli.run(main, arguments)
