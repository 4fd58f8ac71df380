"""I-Avg: an average that is discounted by the turns it took.

`I-Avg = Avg * sqrt(1 - I / I_max)`, I the mean turns a question. What I_max PaperGuide (arXiv:2601.12988) used is not known, so
here it is always explicit: the run's turn cap, or one of PRESETS; a value without its I_max compares with nothing.
"""

from __future__ import annotations

import math

PRESETS = (10, 20, 100)


def i_avg(average: float, turns: float, i_max: float) -> float:
    """The discounted average, on the scale of `average`.

    The radicand is clamped to 0..1: more turns than `i_max` give 0, never an error. NaN where an input is NaN.
    Raises ValueError where `i_max` is not above 0.
    """
    if i_max <= 0:
        raise ValueError(f"I_max must be above 0, got {i_max}")
    if math.isnan(average) or math.isnan(turns) or math.isnan(i_max):
        return math.nan
    return average * math.sqrt(min(1.0, max(0.0, 1.0 - turns / i_max)))
