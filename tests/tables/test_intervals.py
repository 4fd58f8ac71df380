"""Intervals: known values, limits, and what clustering must do."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vivavoce.metrics.intervals import (
    bootstrap,
    design_effect,
    paired_difference,
    percentile_interval,
    proportion,
    resampled_means,
    wilson,
)


def test_wilson_equals_the_textbook_values() -> None:
    """Newcombe (1998), table I, method 3: 81/263, 15/148, 0/20 and 1/29."""
    for successes, n, low, high in (
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ):
        assert wilson(successes, n) == pytest.approx((low, high), abs=5e-5)
    assert all(map(math.isnan, wilson(0, 0)))


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_holds_the_estimate_and_stays_in_range(case: tuple[int, int]) -> None:
    successes, n = case
    low, high = wilson(successes, n)
    assert 0 <= low <= successes / n <= high <= 1


def test_one_question_a_cluster_is_the_plain_interval() -> None:
    values = np.array([1.0] * 30 + [0.0] * 70)
    assert proportion(values, np.arange(100)) == wilson(30, 100)


def test_a_cluster_of_copies_counts_once() -> None:
    """Twenty papers with five equal answers each tell no more than twenty answers."""
    by_paper = np.array([1.0] * 8 + [0.0] * 12)
    copies, clusters = np.repeat(by_paper, 5), np.repeat(np.arange(20), 5)
    assert design_effect(copies, clusters) == pytest.approx(5, rel=0.05)
    assert proportion(copies, clusters) == pytest.approx(wilson(8, 20), abs=0.01)


def test_bootstrap_covers_a_known_mean_and_is_seeded() -> None:
    generator = np.random.default_rng(3)
    values = generator.normal(5, 2, 400)
    clusters = np.arange(400)
    low, high = percentile_interval(resampled_means(values[:, None], clusters)[:, 0])
    half = 1.96 * values.std() / math.sqrt(400)
    assert (low, high) == pytest.approx((values.mean() - half, values.mean() + half), abs=0.05)
    assert np.array_equal(resampled_means(values[:, None], clusters), resampled_means(values[:, None], clusters))


def test_absent_values_are_left_out_of_each_resample() -> None:
    columns = np.array([[1.0, np.nan], [1.0, 3.0], [1.0, 3.0]])
    means = resampled_means(columns, np.arange(3))
    assert np.all(means[:, 0] == 1.0)
    assert np.all(np.isnan(means[:, 1]) | (means[:, 1] == 3.0))


def test_a_function_of_means_is_resampled_as_a_whole() -> None:
    """Precision and recall that are equal on every question have a harmonic mean whose interval is theirs."""
    values = np.array([0.0, 0.2, 0.4, 0.6, 0.8, 1.0] * 10)
    clusters = np.arange(60)
    harmonic = bootstrap({"p": values, "r": values}, clusters, lambda m: 2 * m["p"] * m["r"] / (m["p"] + m["r"]))
    assert harmonic == pytest.approx(percentile_interval(resampled_means(values[:, None], clusters)[:, 0]))


def test_paired_difference_sees_what_unpaired_cannot() -> None:
    generator = np.random.default_rng(5)
    difficulty = generator.random(200)
    better, worse = difficulty + 0.02, difficulty
    difference, low, high, p = paired_difference(better, worse, np.arange(200))
    assert difference == pytest.approx(0.02)
    assert 0 < low <= high
    assert p == 0.001
    assert paired_difference(worse, worse, np.arange(200))[3] == 1.0
