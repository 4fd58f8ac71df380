"""Intervals at 95 %: Wilson for proportions, seeded bootstrap for means and functions of means, both clustered.

Questions on the same paper are not independent: a cluster (a paper's questions) is drawn as a whole, and a proportion's n is
divided by its design effect (Kish 1965) before Wilson's formula (1927). With one question a cluster these are the plain
intervals.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 1000
SEED = 20260119
LEVEL = 0.95
Floats = NDArray[np.float64]
Interval = tuple[float, float]


def wilson(successes: float, n: float, level: float = LEVEL) -> Interval:
    """Wilson's score interval of a proportion, both ends in [0, 1]; `n` may be an effective size. (nan, nan) for n = 0."""
    if n <= 0:
        return math.nan, math.nan
    z = NormalDist().inv_cdf((1 + level) / 2)
    p = successes / n
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == n else min(1.0, centre + half)
    return low, high


def proportion(values: Floats, clusters: NDArray[np.int64]) -> Interval:
    """Interval of the mean of 0/1 `values`, shape (n,); `clusters` numbers each question's cluster from 0."""
    n = len(values)
    effective = n / design_effect(values, clusters)
    return wilson(float(values.mean()) * effective, effective) if n else (math.nan, math.nan)


def design_effect(values: Floats, clusters: NDArray[np.int64]) -> float:
    """Variance of a mean by clusters over its variance by questions, at least 1 (more clusters than one needed)."""
    n = len(values)
    sizes = np.bincount(clusters)
    sizes = sizes[sizes > 0]
    spread = float(values.var())
    if n < 2 or spread == 0 or len(sizes) < 2 or len(sizes) == n:
        return 1.0
    residuals = np.bincount(clusters, weights=values - values.mean())
    by_cluster = float((residuals**2).sum()) * len(sizes) / (len(sizes) - 1) / n**2
    return max(1.0, by_cluster / (spread / (n - 1)))


def resampled_means(columns: Floats, clusters: NDArray[np.int64]) -> Floats:
    """Means over resamples of clusters of `columns`, shape (n, k) with NaN for absent values: (RESAMPLES, k)."""
    present = ~np.isnan(columns)
    _, numbers = np.unique(clusters, return_inverse=True)
    count = int(numbers.max()) + 1
    sums = _by_cluster(np.where(present, columns, 0.0), numbers, count)
    sizes = _by_cluster(present.astype(np.float64), numbers, count)
    draws = _draws(count)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((draws @ sums) / (draws @ sizes))


def percentile_interval(resamples: Floats, level: float = LEVEL) -> Interval:
    """The central interval of resampled values, shape (resamples,); resamples without a value are left out."""
    known = resamples[~np.isnan(resamples)]
    if not len(known):
        return math.nan, math.nan
    low, high = np.percentile(known, [50 * (1 - level), 50 * (1 + level)])
    return float(low), float(high)


def bootstrap(
    columns: Mapping[str, Floats], clusters: NDArray[np.int64], combine: Callable[[Mapping[str, Floats]], Floats]
) -> Interval:
    """Interval of a function of the means of several columns, each of shape (n,)."""
    means = resampled_means(np.column_stack(list(columns.values())), clusters)
    return percentile_interval(combine({name: means[:, index] for index, name in enumerate(columns)}))


def paired_difference(first: Floats, second: Floats, clusters: NDArray[np.int64]) -> tuple[float, float, float, float]:
    """Mean difference of two systems on the same questions: (difference, low, high, p), p two-sided from the bootstrap."""
    difference = (first - second)[:, None]
    resamples = resampled_means(difference, clusters)[:, 0]
    low, high = percentile_interval(resamples)
    tail = min(float((resamples <= 0).mean()), float((resamples >= 0).mean()))
    return float(difference.mean()), low, high, min(1.0, max(2 * tail, 1 / RESAMPLES))


def _by_cluster(values: Floats, numbers: NDArray[np.int64], count: int) -> Floats:
    totals = np.zeros((count, values.shape[1]))
    np.add.at(totals, numbers, values)
    return totals


@lru_cache(maxsize=8)
def _draws(count: int) -> Floats:
    """How often each of `count` clusters is drawn, in each resample: (RESAMPLES, count)."""
    generator = np.random.default_rng([SEED, count])
    drawn = generator.integers(count, size=(RESAMPLES, count))
    offsets = np.arange(RESAMPLES)[:, None] * count
    return np.bincount((drawn + offsets).ravel(), minlength=RESAMPLES * count).reshape(RESAMPLES, count).astype(np.float64)
