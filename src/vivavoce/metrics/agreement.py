"""Agreement and correlation: Cohen's kappa, Krippendorff's alpha, Pearson, Spearman and Kendall, with bootstrap intervals.

Sources: Cohen 1960; Krippendorff 2011 "Computing Krippendorff's Alpha-Reliability"; Efron and Tibshirani 1993 (percentiles).
`published_annotators` follows AkariAsai/ScholarQABench@95e6fc52 `rubric_eval.py` L208 to L240 (R13).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import msgspec
import numpy as np
import numpy.typing as npt

Level = Literal["nominal", "interval"]
Floats = npt.NDArray[np.float64]


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """A statistic with its 95 % interval over `n` units; None where it is not defined (too few units, no variation)."""

    value: float | None
    low: float | None
    high: float | None
    n: int


def cohen_kappa(first: Sequence[Any], second: Sequence[Any]) -> float | None:
    """Agreement of two raters beyond chance on nominal labels, -1..1; None for no items, or if chance agreement is certain."""
    if len(first) != len(second):
        raise ValueError(f"two raters need the same items: {len(first)} and {len(second)}")
    n = len(first)
    if not n:
        return None
    observed = sum(a == b for a, b in zip(first, second, strict=True)) / n
    ours, theirs = Counter(first), Counter(second)
    expected = sum(count * theirs[label] for label, count in ours.items()) / n**2
    return None if expected == 1 else (observed - expected) / (1 - expected)


def krippendorff_alpha(ratings: Sequence[Sequence[float | None]], level: Level = "nominal") -> float | None:
    """Alpha of any number of raters (rows) over units (columns); None marks what a rater did not rate.

    Nominal labels are numbers, too (give codes). None if fewer than two values can be paired, or if all are equal.
    """
    units = [[value for value in unit if value is not None] for unit in zip(*ratings, strict=True)]
    units = [unit for unit in units if len(unit) > 1]
    pooled = [value for unit in units for value in unit]
    n = len(pooled)
    if n < 2:
        return None
    observed = sum(_disagreement(unit, level) / (len(unit) - 1) for unit in units) / n
    expected = _disagreement(pooled, level) / (n * (n - 1))
    return None if expected == 0 else 1 - observed / expected


def _disagreement(values: Sequence[float], level: Level) -> float:
    """Sum of the differences of all ordered pairs."""
    array = np.asarray(values, dtype=np.float64)
    if level == "interval":
        return float(2 * (len(array) * (array**2).sum() - array.sum() ** 2))
    _, counts = np.unique(array, return_counts=True)
    return float(len(array) ** 2 - (counts**2).sum())


def pearson(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Linear correlation, -1..1; None with fewer than two points or without variation."""
    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if len(x) != len(y):
        raise ValueError(f"correlation needs pairs: {len(x)} and {len(y)}")
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    x, y = x - x.mean(), y - y.mean()
    return float(max(-1.0, min(1.0, (x * y).sum() / math.sqrt((x**2).sum() * (y**2).sum()))))


def spearman(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Pearson correlation of ranks, ties averaged."""
    return pearson(list(_ranks(first)), list(_ranks(second)))


def kendall(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Kendall's tau-b, -1..1; None with fewer than two points or without variation."""
    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if len(x) != len(y):
        raise ValueError(f"correlation needs pairs: {len(x)} and {len(y)}")
    upper = np.triu_indices(len(x), 1)
    dx, dy = np.sign(x[:, None] - x[None, :])[upper], np.sign(y[:, None] - y[None, :])[upper]
    pairs = math.sqrt(float((dx != 0).sum()) * float((dy != 0).sum()))
    return float((dx * dy).sum() / pairs) if pairs else None


def _ranks(values: Sequence[float]) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    _, inverse, counts = np.unique(array, return_inverse=True, return_counts=True)
    ends = counts.cumsum()
    return np.asarray((ends - (counts - 1) / 2)[inverse], dtype=np.float64)


def bootstrap(
    statistic: Callable[..., float | None], *columns: Sequence[Any], seed: int = 0, resamples: int = 1000
) -> Estimate:
    """`statistic(*columns)` with a percentile interval; units (positions) are drawn together. Undefined draws are left out."""
    n = len(columns[0]) if columns else 0
    value = statistic(*columns)
    if value is None or n < 3:
        return Estimate(value=value, low=None, high=None, n=n)
    generator = np.random.default_rng(seed)
    drawn = []
    for _ in range(resamples):
        at = generator.integers(0, n, n)
        found = statistic(*([column[i] for i in at] for column in columns))
        if found is not None:
            drawn.append(found)
    if len(drawn) < resamples / 2:
        return Estimate(value=value, low=None, high=None, n=n)
    low, high = np.percentile(drawn, [2.5, 97.5])
    return Estimate(value=value, low=float(low), high=float(high), n=n)


Pair = tuple[Sequence[float], Sequence[float]]  # one question: the systems' scores by one annotator's rubric and by the other's


def annotators(questions: Mapping[str, Pair], measure: Callable[[Sequence[float], Sequence[float]], float | None]) -> Estimate:
    """Mean over questions of a signed correlation of the systems' scores by two annotators' rubrics; interval over questions.

    Questions in which it is not defined (all systems equal) are left out of `n`.
    """
    values = [found for _, pair in sorted(questions.items()) if (found := measure(*pair)) is not None]
    return bootstrap(lambda column: float(np.mean(column)) if len(column) else None, values)


def published_annotators(
    questions: Mapping[str, Pair], measure: Callable[[Sequence[float], Sequence[float]], float | None]
) -> float | None:
    """As published: of argsort orders, which are no ranks, and without the sign, so that disagreement counts as agreement."""
    found = []
    for pair in questions.values():
        orders = [np.argsort(-np.asarray(scores, dtype=np.float64), kind="stable").astype(float).tolist() for scores in pair]
        value = measure(*orders)
        found += [abs(value)] if value is not None else []
    return float(np.mean(found)) if found else None
