"""Open the judge that grades a rollout file, and let it."""

from __future__ import annotations

import argparse
from types import ModuleType

from vivavoce.config.base import load
from vivavoce.config.experiment import ExperimentConfig
from vivavoce.plan import NO_MODEL
from vivavoce.steps.fetched import fetched
from vivavoce.steps.judge import Counts, judge_all
from vivavoce.steps.models import opened
from vivavoce.steps.pool import OrderedLines
from vivavoce.steps.unjudged import can_grade_alone, grade_alone


async def judge_with(
    config: ExperimentConfig, options: argparse.Namespace, grader: ModuleType, out: OrderedLines, label: str
) -> Counts:
    """Grade with the judge of the configuration, its model (if it asks one) open."""
    only = config.benchmark[options.benchmark].measures
    if can_grade_alone(grader, options.judge):
        return grade_alone(options.questions, options.rollouts, grader, out, only=only)
    choice = config.judge[options.judge]
    where = f"conf/judge/{options.judge}.yaml"
    judge = load(choice.judge, f"{where}: judge")
    files, _ = fetched(choice.sources, where)
    settings = {**choice.options, **{name: str(path) for name, path in files.items()}}
    model = config.model.get(choice.model or "")
    job = ("judge", options.benchmark, options.agent, options.model, f"s{options.seed}", options.judge)
    async with opened(config, choice.model or NO_MODEL, *job) as chat:
        own = chat if choice.model else None
        return await judge_all(
            options.questions,
            options.rollouts,
            grader,
            judge(own, settings, name=options.judge, versions=choice.versions),
            out,
            only=only,
            concurrency=model.concurrency if model else 1,
            label=label,
        )
