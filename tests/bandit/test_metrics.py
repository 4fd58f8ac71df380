"""UCB, knowing and doing: the paper's worked history, and what holds for every history."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vivavoce.metrics import bandit
from vivavoce.metrics.bandit import CELLS, CONSTANTS, Tally, argmax, conditional, does, joint, knows, truth

BLUE, GREEN = 0, 1
FIGURE_22 = [  # Schmied et al. 2025, figure 22
    (BLUE, 1.06),
    (BLUE, 1.82),
    (GREEN, 1.0),
    (GREEN, -0.26),
    (BLUE, -0.58),
    (BLUE, -0.34),
    (GREEN, 1.19),
    (GREEN, 2.21),
    (GREEN, 0.07),
    (GREEN, 1.45),
    (GREEN, -0.11),
]
histories = st.lists(st.tuples(st.integers(0, 4), st.integers(-300, 300).map(lambda cents: cents / 100)), max_size=40)


def test_figure_22() -> None:
    tally = Tally(10, FIGURE_22)
    values = tally.ucb()
    assert tally.counts[:3] == [4, 7, 0]
    assert tally.means() == pytest.approx({BLUE: 0.490, GREEN: 0.793}, abs=5e-4)
    assert values[BLUE] == pytest.approx(1.585, abs=5e-4)
    assert values[GREEN] == pytest.approx(1.621, abs=5e-4)
    assert [values[arm] for arm in range(2, 10)] == [math.inf] * 8
    right = truth(tally)
    assert right == (frozenset(range(2, 10)), frozenset({GREEN}))
    stated = {BLUE: 1.17, GREEN: 1.47} | dict.fromkeys(range(2, 10), math.inf)
    assert knows(stated, right.best)  # the numbers are wrong, the best arms are right
    assert does(GREEN, right) == "greedy"
    assert does(BLUE, right) == "other"
    assert does(5, right) == "optimal"


def test_figure_22_by_the_other_constants() -> None:
    tally = Tally(10, FIGURE_22)
    assert tally.ucb("half_log")[GREEN] == pytest.approx(0.79286 + math.sqrt(0.5 * math.log(11) / 7), abs=1e-4)
    assert tally.ucb("no_log")[BLUE] == pytest.approx(0.49 + 0.5)


def test_a_constant_changes_the_best_arm() -> None:
    tally = Tally(2, [(0, 0.0), *[(1, 0.8)] * 9])  # one press at 0, nine at 0.8
    assert {name: set(truth(tally, name).best) for name in CONSTANTS} == {"two_log": {0}, "half_log": {1}, "no_log": {1}}


def test_knowing_needs_a_claim_and_no_wrong_arm_among_the_highest() -> None:
    best = frozenset({2, 3})
    assert not knows({}, best)
    assert knows({2: 5.0}, best)
    assert knows({0: 1.0, 2: math.inf, 3: math.inf}, best)
    assert not knows({0: math.inf, 2: math.inf}, best)
    assert not knows(dict.fromkeys(range(4), 0.0), best)


def test_infinite_values_tie_and_so_do_nearly_equal_ones() -> None:
    assert argmax({0: math.inf, 1: 1e308, 2: math.inf}) == {0, 2}
    assert argmax({0: 0.1 + 0.2, 1: 0.3, 2: 0.2999}) == {0, 1}
    assert argmax({0: -math.inf}) == {0}
    assert argmax({}) == frozenset()


@given(histories, st.sampled_from(sorted(CONSTANTS)))
def test_the_best_arms_are_those_of_a_computation_by_hand(history: list[tuple[int, float]], constant: str) -> None:
    factor = {"two_log": lambda t: 2 * math.log(t), "half_log": lambda t: 0.5 * math.log(t), "no_log": lambda t: 1.0}[constant]
    expected = []
    for arm in range(5):
        own = [reward for pressed, reward in history if pressed == arm]
        expected.append(math.fsum(own) / len(own) + math.sqrt(factor(len(history)) / len(own)) if own else math.inf)
    right = truth(Tally(5, history), constant)
    assert right.best
    assert right.best == {arm for arm in range(5) if expected[arm] == max(expected) or max(expected) - expected[arm] <= 1e-9}
    assert bool(right.best_tried) == bool(history)
    assert right.best_tried <= {arm for arm, _ in history}


@given(histories)
def test_greedy_exists_only_while_an_arm_is_untried(history: list[tuple[int, float]]) -> None:
    tally = Tally(5, history)
    right = truth(tally)
    doings = {does(arm, right) for arm in range(5)}
    assert "optimal" in doings
    assert ("greedy" in doings) == (bool(history) and not tally.covered)


@given(st.lists(st.sampled_from(CELLS), min_size=1, max_size=60))
def test_a_matrix_adds_up_to_one_and_so_do_its_rows(cells: list[str]) -> None:
    matrix = joint(cells)
    assert sum(matrix.values()) == pytest.approx(1)
    rows = conditional(matrix)
    for row in ("correct", "incorrect"):
        total = sum(rows[f"{doing}_given_{row}"] for doing in bandit.DOINGS)
        assert total == pytest.approx(1) if any(name.startswith(f"{row}_") for name in cells) else math.isnan(total)


def test_the_published_matrix_conditioned() -> None:
    """The 58.1 % and 21.6 % are joint; the top row adds up to 90.3 %, not to the 87 or 89 of the text."""
    published = dict(zip(CELLS, (21.6, 58.1, 10.6, 0.6, 7.2, 2.0), strict=True))
    assert sum(published[name] for name in CELLS[:3]) == pytest.approx(90.3)
    rows = conditional(published)
    assert [round(100 * rows[f"{doing}_given_correct"], 1) for doing in bandit.DOINGS] == [23.9, 64.3, 11.7]


def test_no_steps_make_no_matrix() -> None:
    with pytest.raises(ValueError, match="at least one step"):
        joint([])


def test_coverage_and_the_steps_before_it() -> None:
    assert bandit.coverage(4, [0, 0, 2]) == 0.5
    assert bandit.coverage(4, []) == 0
    assert bandit.steps_before_coverage(3, [0, 1, 1, 2, 0, 0]) == 4  # the press that completes it was decided before
    assert bandit.steps_before_coverage(3, [0, 1, 1]) == 3


@given(st.lists(st.floats(0, 1), min_size=2, max_size=6), st.lists(st.integers(0, 1), max_size=20))
def test_regret_is_never_negative_and_nothing_for_the_best_arm(means: list[float], pressed: list[int]) -> None:
    assert bandit.regret(means, pressed) >= 0
    assert bandit.regret(means, [means.index(max(means))] * len(pressed)) == 0
    assert bandit.regret([0.2, 0.9], [0, 1, 0]) == pytest.approx(1.4)
