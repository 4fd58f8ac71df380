"""Let an agent answer questions, one line a question: a failed question ends as `error` with its reason, the others go on."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path

import msgspec

from vivavoce.agents.base import Agent, Seat
from vivavoce.errors import DataError, ModelError, RefusedError
from vivavoce.files import read_records, sample
from vivavoce.records import Outcome, Question, Rollout, Usage
from vivavoce.steps.pool import OrderedLines, pooled
from vivavoce.steps.progress import Progress

log = logging.getLogger(__name__)


def questions_of(path: Path, limit: int) -> list[Question]:
    """The first `limit` questions of a benchmark (0: all)."""
    return list(islice(read_records(path, Question), limit or None))


async def answer_all(
    questions: Sequence[Question],
    agent: Agent,
    seat: Seat,
    out: OrderedLines,
    *,
    concurrency: int,
    deadline: float | None,
    label: str,
) -> Tally:
    """Answer every question, `concurrency` at once, each within `deadline` seconds, and put its line to `out`."""
    progress = Progress(label, len(questions))
    tally = Tally()
    encoder = msgspec.json.Encoder()

    async def answer(question: Question) -> bytes:
        rollout = await _answer(question.unseen(), agent, seat, deadline)
        if rollout.question_id != question.id:
            raise DataError(f"{label}: the agent answered {rollout.question_id} when asked {question.id}.")
        tally.add(rollout)
        progress.step()
        return encoder.encode(rollout) + b"\n"

    await pooled(questions, answer, out, concurrency)
    progress.end()
    return tally


def import_all(rollouts: Iterable[Rollout], questions: Sequence[Question], out: OrderedLines, label: str) -> Tally:
    """Take the rollouts of answers made elsewhere, in any order; every question must get exactly one."""
    position = {question.id: index for index, question in enumerate(questions)}
    tally = Tally()
    encoder = msgspec.json.Encoder()
    for rollout in rollouts:
        if rollout.question_id not in position:
            raise DataError(f"{label}: no question (or a second answer) for id {rollout.question_id}.")
        out.put(position.pop(rollout.question_id), encoder.encode(rollout) + b"\n")
        tally.add(rollout)
    if position:
        raise DataError(f"{label}: {len(position)} question(s) got no rollout: {sample(position)}.")
    return tally


class Tally:
    """How the questions of a rollout ended, and what they cost."""

    def __init__(self) -> None:
        self.outcomes: dict[Outcome, int] = {}
        self.usage = Usage()
        self.turns = 0
        self.first_errors: list[str] = []

    def add(self, rollout: Rollout) -> None:
        """Count one rollout."""
        self.outcomes[rollout.outcome] = self.outcomes.get(rollout.outcome, 0) + 1
        self.usage = self.usage + rollout.usage
        self.turns += len(rollout.turns)
        if rollout.outcome == "error" and len(self.first_errors) < 3:
            self.first_errors.append(f"{rollout.question_id}: {rollout.reason}")

    def check(self, share: float, label: str) -> None:
        """Raise DataError when more than `share` of the questions ended in an error."""
        total, errors = sum(self.outcomes.values()), self.outcomes.get("error", 0)
        if not errors:
            return
        first = "; ".join(self.first_errors)
        if errors > share * total:
            raise DataError(
                f"{label}: {errors} of {total} questions ended in an error, more than error_share={share:g} allows. "
                f"First: {first}. Finished calls are in the call store: once the cause is gone, run the same command "
                "and only the rest is asked."
            )
        log.warning(
            "%s: %d question(s) ended in an error (%s); ask them again with --config retry=errors", label, errors, first
        )


async def _answer(question: Question, agent: Agent, seat: Seat, deadline: float | None) -> Rollout:
    try:
        return await asyncio.wait_for(agent.answer(question, seat), deadline)
    except RefusedError as error:
        return _failed(question, agent, seat, "refused", str(error))
    except ModelError as error:
        return _failed(question, agent, seat, "error", str(error))
    except TimeoutError:
        return _failed(question, agent, seat, "error", f"not answered within {deadline:g} s")


def _failed(question: Question, agent: Agent, seat: Seat, outcome: Outcome, reason: str) -> Rollout:
    return Rollout(
        question_id=question.id, agent=agent.name, model=seat.model.name, seed=seat.seed, outcome=outcome, reason=reason
    )
