"""SciDQA's answers scored once more with one defect of the published scorer undone at a time.

Everything else stays as published, so that each line of the table of effects is due to one thing. Only pairs of texts that
the change touches are scored again; the others keep the values of the judgements file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vivavoce.files import by_id, read_records
from vivavoce.grading.scidqa_texts import published_answer, published_gold, row_answer, without_lead
from vivavoce.metrics.rouge import Reference, Rouge
from vivavoce.records import Question, Rollout
from vivavoce.tables.listing import Run
from vivavoce.tables.sample import Questions
from vivavoce.tables.values import Key, values_of

TYPES = ("rouge1", "rouge2", "rougeL")
KEYS: tuple[Key, ...] = tuple(("as_published", f"{name}_precision") for name in TYPES)
Texts = tuple[str, str]  # gold, answer
Change = Callable[[Question, Rollout], Texts]


def _as_published(question: Question, rollout: Rollout) -> Texts:
    return published_gold(question), published_answer(rollout) or ""


def _without_prefix(question: Question, rollout: Rollout) -> Texts:
    gold, answer = _as_published(question, rollout)
    return without_lead(gold), answer


def _released_gold(question: Question, rollout: Rollout) -> Texts:
    return str(question.gold["released"]).strip(), _as_published(question, rollout)[1]


def _clean_answer(question: Question, rollout: Rollout) -> Texts:
    gold, answer = _as_published(question, rollout)
    return gold, rollout.answer.strip() if rollout.answer is not None else answer


def _no_words_for_failures(question: Question, rollout: Rollout) -> Texts:
    gold, answer = _as_published(question, rollout)
    return gold, answer if rollout.outcome == "answered" else ""


def _joined_by_row(question: Question, rollout: Rollout) -> Texts:
    return published_gold(question), row_answer(rollout) or ""


CHANGES: dict[str, Change] = {
    "prefix": _without_prefix,
    "gold": _released_gold,
    "column": _clean_answer,
    "failures": _no_words_for_failures,
    "row": _joined_by_row,
}
SCRAMBLED = "scrambled"  # joined by row behind the file whose order differs


class Rescored(NamedTuple):
    """Mean precision of ROUGE-1, -2, -L in percent, as published and under each change."""

    run: Run
    means: dict[str, NDArray[np.float64]]  # name of the change ("" as published) -> shape (3,)
    changed: dict[str, int]  # questions whose texts change
    answered: NDArray[np.float64]  # as published, over answered questions alone


def rescore(runs: Sequence[Run], order: Sequence[int] | None, scrambled: str, threads: int) -> Iterator[Rescored]:
    """Score each run under all changes; runs of agent `scrambled` also in the wrong `order` (question -> row that is taken)."""
    work = [(run, order if run.agent == scrambled else None) for run in runs]
    if threads < 2 or len(work) < 3:
        yield from map(_rescore, work)
        return
    with ProcessPoolExecutor(threads, mp_context=get_context("forkserver")) as pool:
        yield from pool.map(_rescore, work)


def order_of(rollouts: Path, questions: Path) -> list[int] | None:
    """For each question the row in which a file holds its answer; None where that is the questions' own order."""
    rows = {r.question_id: r.extra.get("row") for r in read_records(rollouts, Rollout)}
    order = [row if (row := rows[q.id]) is not None else index for index, q in enumerate(read_records(questions, Question))]
    return None if order == sorted(order) else order


def _rescore(work: tuple[Run, Sequence[int] | None]) -> Rescored:
    run, order = work
    known, places = _questions(run.questions), Questions(run.questions).position
    values = values_of(run.judgements, Questions(run.questions), KEYS)
    base = np.column_stack([np.nan_to_num(values[key]) for key in KEYS])
    columns = {name: base.copy() for name in CHANGES}
    changed = dict.fromkeys(CHANGES, 0)
    answered = np.zeros(len(known), dtype=bool)
    rollouts = by_id(read_records(run.rollouts, Rollout), "question_id", run.rollouts)
    for identity, rollout in rollouts.items():
        question, index = known[identity], places[identity]
        answered[index] = rollout.outcome == "answered"
        published = _as_published(question, rollout)
        for name, change in CHANGES.items():
            if (texts := change(question, rollout)) != published:
                columns[name][index] = _precision(*texts)
                changed[name] += 1
    means = {"": 100 * base.mean(axis=0), **{name: 100 * column.mean(axis=0) for name, column in columns.items()}}
    if order is not None:
        means[SCRAMBLED], changed[SCRAMBLED] = _scrambled(known, rollouts, order)
    return Rescored(run, means, changed, 100 * base[answered].mean(axis=0))


def _scrambled(
    known: dict[str, Question], rollouts: dict[str, Rollout], order: Sequence[int]
) -> tuple[NDArray[np.float64], int]:
    """Where the file that is read first lies in another order, others are aligned to its rows by position."""
    answers = [published_answer(rollouts[identity]) or "" for identity in known]
    scores = [_precision(published_gold(q), answers[row]) for q, row in zip(known.values(), order, strict=True)]
    return 100 * np.mean(scores, axis=0), sum(row != index for index, row in enumerate(order))


def _precision(gold: str, answer: str) -> tuple[float, ...]:
    scorer = _scorer()
    return tuple(score.precision for score in scorer.score(_reference(gold), scorer.tokens(answer)))


@cache
def _scorer() -> Rouge:
    return Rouge("ascii")


@cache
def _reference(gold: str) -> Reference:
    return _scorer().reference(gold)


@cache
def _questions(path: Path) -> dict[str, Question]:
    return by_id(read_records(path, Question), "id", path)
