"""Knowing and doing in a bandit: what UCB would do after a history, and what a player said and did.

Source: Schmied et al. 2025 (arXiv:2504.16078), section 4.2 and appendix C.1.3. The paper leaves the UCB constant open: its
worked example has sqrt(2 ln t / n), its expert traces sqrt(1 / n), BanditBench sqrt(0.5 ln t / n); t counts the presses so far.
An arm is its index; a history is a sequence of (arm, reward).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

Doing = Literal["optimal", "greedy", "other"]
DOINGS: tuple[Doing, ...] = ("optimal", "greedy", "other")
KNOWINGS = ("correct", "incorrect")
CELLS = tuple(f"{knowing}_{doing}" for knowing in KNOWINGS for doing in DOINGS)
TIE = 1e-9  # values nearer than this are equal: sums of the same rewards in another order are

CONSTANTS: Mapping[str, Callable[[int, int], float]] = {
    "two_log": lambda t, n: math.sqrt(2.0 * math.log(t) / n),
    "half_log": lambda t, n: math.sqrt(0.5 * math.log(t) / n),
    "no_log": lambda t, n: math.sqrt(1.0 / n),
}
DEFAULT = "two_log"


class Tally:
    """Presses and reward sums of each arm, kept up to date step by step."""

    def __init__(self, arms: int, history: Iterable[tuple[int, float]] = ()) -> None:
        self.counts, self.sums = [0] * arms, [0.0] * arms
        for arm, reward in history:
            self.add(arm, reward)

    def add(self, arm: int, reward: float) -> None:
        """One more press."""
        self.counts[arm] += 1
        self.sums[arm] += reward

    @property
    def tried(self) -> list[int]:
        """Arms pressed at least once."""
        return [arm for arm, count in enumerate(self.counts) if count]

    @property
    def covered(self) -> bool:
        """Whether every arm was pressed."""
        return all(self.counts)

    def means(self) -> dict[int, float]:
        """Mean reward of each tried arm."""
        return {arm: self.sums[arm] / self.counts[arm] for arm in self.tried}

    def ucb(self, constant: str = DEFAULT) -> dict[int, float]:
        """The UCB value of every arm; infinite where it was never pressed. `constant` is one of CONSTANTS."""
        bonus, pressed, means = CONSTANTS[constant], sum(self.counts), self.means()
        return {arm: means[arm] + bonus(pressed, n) if n else math.inf for arm, n in enumerate(self.counts)}


class Truth(NamedTuple):
    """What UCB says before a step: the best arms, and the best of those tried so far (empty before the first press)."""

    best: frozenset[int]
    best_tried: frozenset[int]


def truth(tally: Tally, constant: str = DEFAULT) -> Truth:
    """Both argmax sets after a history."""
    values = tally.ucb(constant)
    return Truth(argmax(values), argmax({arm: values[arm] for arm in tally.tried}))


def argmax(values: Mapping[int, float]) -> frozenset[int]:
    """The arms of the highest value, ties included; empty only where `values` is."""
    if not values:
        return frozenset()
    top = max(values.values())
    return frozenset(arm for arm, value in values.items() if value == top or top - value <= TIE)


def knows(stated: Mapping[int, float], best: frozenset[int]) -> bool:
    """Whether the arms to which the player gave its highest value are all best ones. No stated value: it does not know."""
    claimed = argmax(stated)
    return bool(claimed) and claimed <= best


def does(arm: int, right: Truth) -> Doing:
    """`optimal`: the arm is best of all; else `greedy`: best of those tried; else `other`."""
    if arm in right.best:
        return "optimal"
    return "greedy" if arm in right.best_tried else "other"


def cell(correct: bool, doing: Doing) -> str:
    """The name of a cell of the matrix."""
    return f"{KNOWINGS[not correct]}_{doing}"


def joint(cells: Sequence[str]) -> dict[str, float]:
    """Share of all steps in each of the six CELLS; they add up to 1. Raises ValueError without a step."""
    if not cells:
        raise ValueError("a matrix needs at least one step")
    counts = Counter(cells)
    return {name: counts[name] / len(cells) for name in CELLS}


def conditional(matrix: Mapping[str, float]) -> dict[str, float]:
    """Each cell's share of its row, named `<doing>_given_<knowing>`; NaN in a row without a step."""
    rows = {row: sum(matrix[f"{row}_{doing}"] for doing in DOINGS) for row in KNOWINGS}
    return {
        f"{doing}_given_{row}": matrix[f"{row}_{doing}"] / total if total else math.nan
        for row, total in rows.items()
        for doing in DOINGS
    }


def steps_before_coverage(arms: int, pressed: Sequence[int]) -> int:
    """How many steps were decided while some arm was still untried."""
    left = set(range(arms))
    for step, arm in enumerate(pressed):
        if not left:
            return step
        left.discard(arm)
    return len(pressed)


def coverage(arms: int, pressed: Iterable[int]) -> float:
    """Share of the arms that were ever pressed, 0..1."""
    return len(set(pressed)) / arms


def regret(means: Sequence[float], pressed: Iterable[int]) -> float:
    """Cumulative expected regret: what always pressing the best arm would have earned more, in expectation; never below 0."""
    best = max(means)
    return math.fsum(best - means[arm] for arm in pressed)
