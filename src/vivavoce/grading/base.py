"""What a grader is: a generator that asks in batches and returns judgements, so that grading is pure and judging is I/O.

A grader module has two public names:

    MEASURES: tuple[MeasureSpec, ...]
    def grade(question: Question, rollout: Rollout) -> Grading

`grade` yields lists of `JudgeRequest` and is sent the list of `JudgeReply` in the same order; it may yield nothing at all.
Both profiles are graded in the same pass, from the same replies.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from vivavoce.records import Judgement, JudgeReply, JudgeRequest, Profile, Question, Rollout

Grading = Generator[list[JudgeRequest], list[JudgeReply], list[Judgement]]
Grade = Callable[[Question, Rollout], Grading]
Means = Mapping[str, NDArray[np.float64]]  # measure -> its mean, one a resample


class Value(msgspec.Struct, frozen=True, kw_only=True):
    """A measure that each question has a value of; the table's cell is the mean over questions.

    `proportion` means 0/1 values (Wilson interval), `mean` any others (seeded bootstrap). `scale` multiplies for print.
    `worst` is what a question counts whose judge failed, where failures count as wrong.
    """

    name: str
    kind: Literal["proportion", "mean"] = "proportion"
    scale: float = 100.0
    worst: float = 0.0
    higher_is_better: bool = True
    profiles: tuple[Profile, ...] = ("as_published", "corrected")


class Derived(msgspec.Struct, frozen=True, kw_only=True):
    """A function of the means of other measures, over the questions that have them all (seeded bootstrap interval).

    `combine` maps the inputs' means, as arrays of any one shape, to values of that shape: () for the cell, (resamples,) for
    its interval.
    """

    name: str
    inputs: tuple[str, ...]
    combine: Callable[[Means], NDArray[np.float64]]
    scale: float = 100.0
    higher_is_better: bool = True
    profiles: tuple[Profile, ...] = ("as_published", "corrected")


class Statistic(msgspec.Struct, frozen=True, kw_only=True):
    """Any other statistic of one measure's values, shape (n,), without an interval: a median, a percentile."""

    name: str
    input: str
    compute: Callable[[NDArray[np.float64]], float]
    scale: float = 100.0
    higher_is_better: bool = True
    profiles: tuple[Profile, ...] = ("as_published", "corrected")


class Macro(msgspec.Struct, frozen=True, kw_only=True):
    """The unweighted mean of one measure's means on several slices (seeded bootstrap interval).

    A slice may overlap others. Where one of them holds no question with a value, there is no macro average.
    """

    name: str
    input: str
    slices: tuple[str, ...]
    scale: float = 100.0
    higher_is_better: bool = True
    profiles: tuple[Profile, ...] = ("as_published", "corrected")


MeasureSpec = Value | Derived | Statistic | Macro
