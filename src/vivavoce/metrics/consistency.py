"""Checks whether published percentages can be right: no model, no data, only the numbers of questions.

GRIM (Brown and Heathers 2017): a mean of n questions with whole scores is k / n for a whole k; a printed percentage that no k
gives cannot be a result on n questions. And a total over disjoint parts is the parts' mean weighted by their sizes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import msgspec


class Weighing(msgspec.Struct, frozen=True):
    """What the parts of a row weigh to: the least and greatest total in percent that their roundings allow, and the counts."""

    low: float
    high: float
    fits: bool


def counts(percentage: float, n: int, decimals: int = 1, unit: float = 1.0) -> list[float]:
    """The sums of scores over `n` questions that print as `percentage` (0..100) at `decimals`; empty: impossible.

    `unit` is the smallest score step: 1 for right or wrong, 0.5 where half points are given. Both ways of rounding a half are
    allowed. Raises ValueError for n < 1 or a unit not above 0.
    """
    if n < 1 or unit <= 0:
        raise ValueError(f"expected n >= 1 and unit > 0, got {n} and {unit}")
    half = 0.5 * 10**-decimals
    steps = 100 * unit / n
    first = math.ceil(max(0.0, percentage - half) / steps - 1e-9)
    last = math.floor(min(100.0, percentage + half) / steps + 1e-9)
    return [step * unit for step in range(first, last + 1)]


def possible(percentage: float, n: int, decimals: int = 1, unit: float = 1.0) -> bool:
    """Whether some whole count over `n` prints as `percentage`."""
    return bool(counts(percentage, n, decimals, unit))


def weighs(parts: Mapping[str, float], sizes: Mapping[str, int], total: float, decimals: int = 1) -> Weighing:
    """Whether disjoint parts (percentages by name) weigh to the printed `total`, roundings allowed for.

    Where a part has whole counts, only those are tried; otherwise any value within its rounding. Raises ValueError where a part
    has no size.
    """
    if missing := sorted(set(parts) - set(sizes)):
        raise ValueError(f"no size for {', '.join(missing)}")
    half, n = 0.5 * 10**-decimals, sum(sizes[name] for name in parts)
    low = high = 0.0
    for name, value in parts.items():
        sums = counts(value, sizes[name], decimals) or [(value - half) * sizes[name] / 100, (value + half) * sizes[name] / 100]
        low, high = low + min(sums), high + max(sums)
    low, high = 100 * low / n, 100 * high / n
    return Weighing(low, high, low - half - 1e-9 <= total <= high + half + 1e-9)


def flags(row: Mapping[str, float], sizes: Mapping[str, int], parts: tuple[str, ...] = (), decimals: int = 1) -> dict[str, str]:
    """Why cells of a published row cannot be right: column -> reason, only for columns with one.

    `row` maps columns to percentages and holds the total as "all"; `sizes` maps columns to numbers of questions; `parts` names
    disjoint columns that make up the whole. Columns without a size are not checked.
    """
    found = {
        name: f"no whole count over {sizes[name]} gives {value:.{decimals}f} %"
        for name, value in row.items()
        if name in sizes and not possible(value, sizes[name], decimals)
    }
    if parts and "all" in row and all(name in row for name in parts):
        weighing = weighs({name: row[name] for name in parts}, sizes, row["all"], decimals)
        if not weighing.fits:
            span = f"{weighing.low:.{decimals}f}"
            if round(weighing.high, decimals) != round(weighing.low, decimals):
                span += f" to {weighing.high:.{decimals}f}"
            reason = f"{', '.join(parts)} weigh to {span} %, not {row['all']:.{decimals}f} %"
            found["all"] = "; ".join(filter(None, (found.get("all"), reason)))
    return found
