"""The corpus that an agent reads: a module of its own, for a step that imports it runs again when the corpus code changes."""

from __future__ import annotations

from pathlib import Path

from vivavoce.config.experiment import ExperimentConfig
from vivavoce.corpus.base import Library


def library_of(config: ExperimentConfig, agent: str, benchmark: str) -> Library | None:
    """The corpus of a benchmark, opened; None if it has none or the agent reads none."""
    corpus = config.benchmark[benchmark].corpus if config.agent[agent].reads_corpus else ""
    if not corpus:
        return None
    from vivavoce.corpus.library import open_library

    return open_library(Path("results/corpora") / corpus)
