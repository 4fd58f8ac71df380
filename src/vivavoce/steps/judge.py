"""Grade rollouts, joined with their questions by id: one line a (question, measure, profile)."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from inspect import signature
from pathlib import Path
from types import ModuleType

import msgspec

from vivavoce.errors import DataError
from vivavoce.files import by_id, read_records, sample
from vivavoce.judges.base import Judge, run_grading
from vivavoce.records import Judgement, Question, Rollout
from vivavoce.steps.pool import OrderedLines, pooled
from vivavoce.steps.progress import Progress


class Counts:
    """How many judgements were written, how many the judge gave no verdict for, and the running means."""

    def __init__(self) -> None:
        self.judgements = 0
        self.unscored = 0
        self._sums: dict[str, tuple[float, int]] = {}

    def encode(self, judgements: list[Judgement]) -> bytes:
        """The lines of one question's judgements, counted."""
        self.judgements += len(judgements)
        for item in judgements:
            self.unscored += item.status == "unscored"
            if item.value is not None:
                name = f"{item.profile}/{item.measure}"
                total, count = self._sums.get(name, (0.0, 0))
                self._sums[name] = (total + item.value, count + 1)
        return _ENCODER.encode_lines(judgements)

    def means(self) -> dict[str, float]:
        """The mean of each measure over the questions with a value, by profile: what MLflow shows of the step."""
        return {name: float(f"{total / count:.9g}") for name, (total, count) in sorted(self._sums.items())}


async def judge_all(
    questions: Path,
    rollouts: Path,
    grader: ModuleType,
    judge: Judge,
    out: OrderedLines,
    *,
    only: Collection[str] = (),
    concurrency: int,
    label: str,
) -> Counts:
    """Grade every rollout of a file, `concurrency` at once; `only` names the measures that are kept (none: all).

    A grader may say in its signature (`asks`) that it can leave its judge out: then judge `none` leaves no unscored lines.
    """
    known = by_id(read_records(questions, Question), "id", questions)
    progress = Progress(label, _lines(rollouts), "rollouts")
    counts = Counts()
    choice = {"asks": judge.name != NO_JUDGE} if "asks" in signature(grader.grade).parameters else {}

    async def grade(pair: tuple[Question, Rollout]) -> bytes:
        judgements = await run_grading(grader.grade(*pair, **choice), judge)
        progress.step()
        return counts.encode([item for item in judgements if not only or item.measure in only])

    await pooled(_pairs(known, rollouts), grade, out, concurrency)
    progress.end()
    return counts


def _pairs(known: dict[str, Question], rollouts: Path) -> Iterator[tuple[Question, Rollout]]:
    seen: set[str] = set()
    for rollout in read_records(rollouts, Rollout):
        identity = rollout.question_id
        if identity not in known or identity in seen:
            problem = "twice" if identity in seen else "of no question"
            raise DataError(f"{rollouts}: a rollout {problem}: {sample([identity])}. Delete the file to have it made again.")
        seen.add(identity)
        yield known[identity], rollout


def _lines(path: Path) -> int:
    with path.open("rb") as stream:
        return sum(1 for _ in stream)


NO_JUDGE = "none"
_ENCODER = msgspec.json.Encoder()
