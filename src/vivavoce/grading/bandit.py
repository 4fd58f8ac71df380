"""Grades games of the bandit probe: what the player knew, what it did, and the gap between them. Asks no judge.

Source: Schmied et al. 2025 (arXiv:2504.16078), section 4.2, figure 5; what each number means: docs/protocols.md. Values are
shares of one game's steps, so that intervals cluster by game. The UCB constant is a suffix: none is sqrt(2 ln t / n),
`_half_log` sqrt(0.5 ln t / n), `_no_log` sqrt(1 / n).

Profiles. `as_published`: every step counts; the button that was pressed is graded, a random one too; whatever values are listed
are read. `corrected`: the first step is left out (every button is best, so nothing is tested); a random press in place of an
unreadable choice is nobody's doing and counts as `other`; values count only if every button has one. Steps that a failed game
did not reach are incorrect and other in both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vivavoce.errors import DataError
from vivavoce.grading.base import Derived, Grading, Means, MeasureSpec, Value
from vivavoce.grading.common import EFFORT, PROFILES, both, effort, judgement
from vivavoce.metrics.bandit import (
    CELLS,
    CONSTANTS,
    DEFAULT,
    DOINGS,
    KNOWINGS,
    Tally,
    argmax,
    cell,
    coverage,
    does,
    joint,
    knows,
    regret,
    steps_before_coverage,
    truth,
)
from vivavoce.metrics.bandit_reply import parse_values
from vivavoce.records import Judgement, Profile, Question, Rollout

SUFFIXES = {name: "" if name == DEFAULT else f"_{name}" for name in CONSTANTS}
PHASES = ("before", "after")  # before: some button was still untried when the step was decided
SPENT = ("prompt_tokens", "completion_tokens", "cost")


class Step(NamedTuple):
    """One press: the arm, its reward, the values stated, and whether the player chose the arm itself."""

    arm: int
    reward: float
    stated: dict[int, float]
    chosen: bool


def grade(question: Question, rollout: Rollout) -> Grading:
    """All judgements of one game. DataError if it holds no presses of this game (another agent, another seed)."""
    yield from ()
    steps = list(_steps(question, rollout))
    arms, means = len(question.gold["means"]), question.gold["means"]
    planned = max(int(rollout.extra.get("turn_cap") or question.extra["horizon"]), len(steps))
    pressed = [step.arm for step in steps]
    complete = len(steps) == planned
    judgements = both(
        rollout, "regret", regret(means, pressed) if complete else None, reason="" if complete else rollout.reason
    )
    judgements += both(rollout, "coverage", coverage(arms, pressed))
    judgements += both(rollout, "parse_rate", sum(bool(step.stated) for step in steps) / planned)
    judgements += both(rollout, "complete_rate", sum(len(step.stated) == arms for step in steps) / planned)
    judgements += both(rollout, "action_parse_rate", sum(step.chosen for step in steps) / planned)
    for profile in PROFILES:
        first = 0 if profile == "as_published" else min(1, planned - 1)
        judgements.append(judgement(rollout, "mean_greedy", profile, _mean_greedy(arms, steps) / (planned - first)))
        before = min(steps_before_coverage(arms, pressed), planned)
        for constant in CONSTANTS:
            cells = _cells(arms, steps, profile, constant)
            cells += [cell(False, "other")] * (planned - len(steps))
            judgements += _matrix(rollout, profile, constant, cells[first:], max(before - first, 0))
    return judgements + [item for item in effort(rollout) if item.measure in SPENT]


def _steps(question: Question, rollout: Rollout) -> Iterator[Step]:
    names, rewards = question.extra["arms"], question.gold["rewards"]
    if rollout.outcome == "answered" and not rollout.turns:
        raise DataError(
            f"rollout of {question.id} by {rollout.agent}: it holds no presses. The bandit probe is played by an agent of "
            "vivavoce.agents.bandit, such as agent=bandit; answers alone cannot be graded."
        )
    for number, turn in enumerate(rollout.turns):
        button = turn.arguments.get("button")
        if button not in names or number >= len(rewards) or turn.observation != str(rewards[number][names.index(button)]):
            raise DataError(
                f"rollout of {question.id} by {rollout.agent}, step {number}: {button!r} pressed for {turn.observation!r}, "
                "which is not what this game pays. Delete the rollout file to have the game played again."
            )
        arm = names.index(button)
        yield Step(arm, rewards[number][arm], parse_values(turn.thought, names), not turn.error)


def _cells(arms: int, steps: Sequence[Step], profile: Profile, constant: str) -> list[str]:
    """The cell of each step that was played."""
    tally, cells, strict = Tally(arms), [], profile == "corrected"
    for step in steps:
        right = truth(tally, constant)
        correct = knows(step.stated, right.best) and not (strict and len(step.stated) < arms)
        cells.append(cell(correct, "other" if strict and not step.chosen else does(step.arm, right)))
        tally.add(step.arm, step.reward)
    return cells


def _mean_greedy(arms: int, steps: Sequence[Step]) -> int:
    """Steps that pressed a button of the highest mean reward so far; never the first."""
    tally, count = Tally(arms), 0
    for step in steps:
        count += step.arm in argmax(tally.means())
        tally.add(step.arm, step.reward)
    return count


def _matrix(rollout: Rollout, profile: Profile, constant: str, cells: Sequence[str], before: int) -> list[Judgement]:
    """Knowing, the six cells and the three doings; for the default constant the two phases and the steps themselves too."""
    suffix, shares = SUFFIXES[constant], joint(cells)
    values = {f"{name}{suffix}": shares[name] for name in CELLS}
    values |= {f"{doing}{suffix}": sum(shares[f"{row}_{doing}"] for row in KNOWINGS) for doing in DOINGS}
    knowing = sum(shares[f"correct_{doing}"] for doing in DOINGS)
    if constant == DEFAULT:
        values["share_before"] = before / len(cells)
        for phase, part in zip(PHASES, (cells[:before], cells[before:]), strict=True):
            values |= {f"share_{phase}_{name}": part.count(name) / len(cells) for name in CELLS}
    detail = {"steps": list(cells)} if constant == DEFAULT else {}
    return [
        judgement(rollout, f"knowing{suffix}", profile, knowing, reason=rollout.reason, detail=detail),
        *(judgement(rollout, name, profile, value, reason=rollout.reason) for name, value in values.items()),
    ]


def _share(name: str) -> Value:
    return Value(name=name, kind="mean")


def _ratio(parts: Sequence[str], whole: Callable[[Means], NDArray[np.float64]]) -> Callable[[Means], NDArray[np.float64]]:
    """Sum of the parts over the whole, NaN where the whole is 0: no step to take a share of."""

    def combine(means: Means) -> NDArray[np.float64]:
        total = np.asarray(whole(means), dtype=np.float64)
        above = np.asarray(sum(means[part] for part in parts), dtype=np.float64)
        return np.divide(above, total, out=np.full_like(total, np.nan), where=total > 1e-12)

    return combine


def _total(names: Sequence[str]) -> Callable[[Means], NDArray[np.float64]]:
    return lambda means: np.asarray(sum(means[name] for name in names), dtype=np.float64)


def _given(row: str, suffix: str) -> Iterator[Derived]:
    """Doing given knowing, over the steps of all games together."""
    cells = tuple(f"{row}_{doing}{suffix}" for doing in DOINGS)
    for doing in DOINGS:
        yield Derived(
            name=f"{doing}_given_{row}{suffix}", inputs=cells, combine=_ratio([f"{row}_{doing}{suffix}"], _total(cells))
        )


def _gap(suffix: str) -> Derived:
    """Share of correct steps that did not take the best button."""
    cells = tuple(f"correct_{doing}{suffix}" for doing in DOINGS)
    missed = [f"correct_{doing}{suffix}" for doing in ("greedy", "other")]
    return Derived(name=f"gap{suffix}", inputs=cells, combine=_ratio(missed, _total(cells)), higher_is_better=False)


def _phase(phase: str) -> Iterator[MeasureSpec]:
    """What a phase's own steps look like: each a share of the steps in it."""
    cells = tuple(f"share_{phase}_{name}" for name in CELLS)
    whole = _total(cells)
    yield from (_share(name) for name in cells)
    sums = {"knowing": [f"share_{phase}_correct_{doing}" for doing in DOINGS]}
    sums |= {doing: [f"share_{phase}_{row}_{doing}" for row in KNOWINGS] for doing in DOINGS}
    sums |= {name: [f"share_{phase}_{name}"] for name in CELLS}
    for name, parts in sums.items():
        yield Derived(name=f"{name}_{phase}", inputs=cells, combine=_ratio(parts, whole))


def _matrix_specs(suffix: str) -> Iterator[MeasureSpec]:
    yield from (_share(f"{name}{suffix}") for name in ("knowing", *CELLS, *DOINGS))
    for row in KNOWINGS:
        yield from _given(row, suffix)
    yield _gap(suffix)


MEASURES: tuple[MeasureSpec, ...] = (
    *(spec for suffix in SUFFIXES.values() for spec in _matrix_specs(suffix)),
    _share("share_before"),
    *(spec for phase in PHASES for spec in _phase(phase)),
    *(_share(name) for name in ("parse_rate", "complete_rate", "action_parse_rate", "coverage", "mean_greedy")),
    Value(name="regret", kind="mean", scale=1, higher_is_better=False),
    *(spec for spec in EFFORT if spec.name in SPENT),
)
