"""I-Avg: an average that is discounted by the turns it took.

`I-Avg = Avg * sqrt(1 - I / I_max)`, I the mean turns a question. What I_max PaperGuide (arXiv:2601.12988) used is not known, so
here it is always explicit: the run's turn cap, or one of PRESETS; a value without its I_max compares with nothing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

PRESETS = (10, 20, 100)


def i_avg(average: ArrayLike, turns: ArrayLike, i_max: ArrayLike) -> NDArray[np.float64]:
    """The discounted average, on the scale of `average`; the three broadcast against each other.

    The radicand is clamped to 0..1: more turns than `i_max` give 0, never an error. NaN where an input is NaN.
    Raises ValueError where `i_max` is not above 0.
    """
    cap = np.asarray(i_max, dtype=np.float64)
    if (cap <= 0).any():
        raise ValueError(f"I_max must be above 0, got {cap.min()}")
    radicand = np.clip(1.0 - np.asarray(turns, dtype=np.float64) / cap, 0.0, 1.0)
    return np.asarray(np.asarray(average, dtype=np.float64) * np.sqrt(radicand))


def i_max_of(average: float, discounted: float, turns: float) -> float:
    """The I_max that a published pair of Avg and I-Avg implies (infinite where they are equal).

    Raises ValueError unless 0 <= discounted <= average and average > 0.
    """
    if not 0 <= discounted <= average or average <= 0:
        raise ValueError(f"expected 0 <= I-Avg <= Avg and Avg > 0, got {discounted} and {average}")
    spent = 1.0 - (discounted / average) ** 2
    return turns / spent if spent else float("inf")
