"""Open what a rollout needs (model, corpus, call store) and run it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from vivavoce.agents.base import Seat
from vivavoce.agents.options import read_options
from vivavoce.config.agent import AgentConfig
from vivavoce.config.experiment import ExperimentConfig
from vivavoce.records import Question
from vivavoce.steps.fetched import fetched
from vivavoce.steps.library import library_of
from vivavoce.steps.models import opened
from vivavoce.steps.pool import OrderedLines
from vivavoce.steps.rollout import Tally, answer_all, import_all


async def answer_with(
    agent: Any, config: ExperimentConfig, options: argparse.Namespace, questions: list[Question], out: OrderedLines, label: str
) -> Tally:
    """Let the agent answer, with its model and its corpus open."""
    choice = config.agent[options.agent]
    player = agent(options.agent, choice.options)
    library = library_of(config, options.agent, options.benchmark)
    model = config.model.get(options.model)
    job = ("rollout", options.benchmark, options.agent, options.model, f"s{options.seed}")
    async with opened(config, options.model, *job) as chat:
        return await answer_all(
            questions,
            player,
            Seat(model=chat, corpus=library, seed=options.seed),
            out,
            concurrency=model.concurrency if model else 1,
            deadline=model.question_timeout if model else None,
            label=label,
        )


def import_from(
    agent: Any,
    choice: AgentConfig,
    options: argparse.Namespace,
    questions: list[Question],
    out: OrderedLines,
    label: str,
    *,
    limited: bool,
) -> Tally:
    """Take the answers of a file that was declared (`sources`) or laid into a folder."""
    if choice.sources:
        where = f"conf/agent/{options.agent}.yaml: sources"
        pinned = {options.model: choice.sources[options.model]}
        found, _ = fetched(pinned, where)
        source = found[options.model]
    else:
        (source,) = options.imported
    chosen = read_options(agent.Options, choice.options, options.agent)
    cache = Path("results/data/parsed")
    rollouts = agent.rollouts(questions, source, chosen, options.model, options.seed, cache, limited=limited)
    return import_all(rollouts, questions, out, label)
