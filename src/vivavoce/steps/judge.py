"""Grade rollouts, joined with their questions by id: one line a (question, measure, profile).

A judge that is down leaves a question unscored and the others go on; the step fails at the end if that befell too many.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator
from inspect import signature
from pathlib import Path
from types import ModuleType

import msgspec

from vivavoce.errors import DataError
from vivavoce.files import by_id, read_records, sample
from vivavoce.judges.base import Judge, run_grading
from vivavoce.records import Judgement, JudgeReply, JudgeRequest, Question, Rollout
from vivavoce.steps.pool import OrderedLines, pooled
from vivavoce.steps.progress import Progress

log = logging.getLogger(__name__)
DOWN = "judge down"  # how `JudgeReply.error` begins when the model gave no reply at all (judges.llm)


class Counts:
    """How many judgements were written, how many the judge gave no verdict for, and the running means.

    `asked` counts the questions that a judge was asked about, `down` those of them where it once gave no reply.
    """

    def __init__(self) -> None:
        self.judgements = 0
        self.unscored = 0
        self.asked = 0
        self.down = 0
        self.first_errors: list[str] = []
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

    def note(self, question: str, judge: _Watched) -> None:
        """Count how the judge fared with one question."""
        self.asked += judge.asked > 0
        self.down += bool(judge.down)
        if judge.down and len(self.first_errors) < 3:
            self.first_errors.append(f"{question}: {judge.down}")

    def check(self, share: float, label: str) -> None:
        """Raise DataError when the judge was down for more than `share` of the questions that it was asked about."""
        if not self.down:
            return
        first = "; ".join(self.first_errors)
        if self.down > share * self.asked:
            raise DataError(
                f"{label}: the judge gave no reply for {self.down} of {self.asked} questions, more than error_share={share:g} "
                f"allows. First: {first}. Finished calls are in the call store: once the cause is gone, run the same command "
                "and only the rest is asked."
            )
        log.warning(
            "%s: the judge gave no reply for %d question(s) (%s); ask again with --config retry=errors", label, self.down, first
        )

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
        watched = _Watched(judge)
        judgements = await run_grading(grader.grade(*pair, **choice), watched)
        counts.note(pair[0].id, watched)
        progress.step()
        return counts.encode([item for item in judgements if not only or item.measure in only])

    await pooled(pairs(known, rollouts), grade, out, concurrency)
    progress.end()
    return counts


class _Watched:
    """A judge, as asked about one question: how often, and why it once gave no reply."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self.asked = 0
        self.down = ""

    @property
    def name(self) -> str:
        return self._judge.name

    async def ask(self, request: JudgeRequest) -> JudgeReply:
        self.asked += 1
        reply = await self._judge.ask(request)
        if reply.error.startswith(DOWN):
            self.down = self.down or reply.error
        return reply


def pairs(known: dict[str, Question], rollouts: Path) -> Iterator[tuple[Question, Rollout]]:
    """Each rollout of a file with its question; one of no question, or a second of one, is a DataError that names it."""
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
