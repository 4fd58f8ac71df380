"""The measures that an experiment's graders declare, by benchmark and name."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module

from vivavoce.config.experiment import ExperimentConfig
from vivavoce.grading.base import MeasureSpec


def specs_of(config: ExperimentConfig, benchmarks: Iterable[str]) -> dict[str, dict[str, MeasureSpec]]:
    """Benchmark -> measure -> specification, of those benchmarks that the experiment has."""
    return {
        name: {spec.name: spec for spec in import_module(config.benchmark[name].grade).MEASURES}
        for name in benchmarks
        if name in config.benchmark
    }
