"""Aggregate many judgement files at once: each in a worker process, the results in the order of the files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from vivavoce.records import Measure
from vivavoce.tables.aggregate import aggregate
from vivavoce.tables.differences import differences
from vivavoce.tables.sample import Questions, Sample

FEW = 6  # files that are not worth a process


class Source(NamedTuple):
    """One judgements file: where it is, who made it, its benchmark's questions, and the grader that knows its measures."""

    path: Path
    row: tuple[str, str, str, str, str]  # benchmark, agent, model, judge, seed
    questions: Path
    grader: str
    experiment: str


def collect(sources: Sequence[Source], processes: int) -> Iterator[tuple[list[Measure], list[tuple[str, ...]]]]:
    """For each file its measures and its lines of the difference report."""
    if processes < 2 or len(sources) <= FEW:
        yield from map(_collect, sources)
        return
    with ProcessPoolExecutor(processes, mp_context=get_context("forkserver")) as pool:
        yield from pool.map(_collect, sources)


def _collect(source: Source) -> tuple[list[Measure], list[tuple[str, ...]]]:
    questions = _questions(source.questions)
    sample = Sample(source.path, questions)
    benchmark, agent, model, judge, seed = source.row
    line = partial(Measure, experiment=source.experiment, benchmark=benchmark, agent=agent, model=model, judge=judge, seed=seed)
    measures = list(aggregate(sample, questions, import_module(source.grader).MEASURES, line))
    return measures, list(differences(source.row, sample, questions))


@cache
def _questions(path: Path) -> Questions:
    return Questions(path)
