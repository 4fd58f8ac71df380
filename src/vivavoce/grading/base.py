"""What a grader is: a generator that asks in batches and returns judgements, so that grading is pure and judging is I/O.

A grader module has two public names:

    MEASURES: tuple[Value | Derived, ...]
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
Columns = Mapping[str, NDArray[np.float64]]  # measure -> one value a question, NaN where it has none, aligned by question


class Value(msgspec.Struct, frozen=True, kw_only=True):
    """A measure that each question has a value of; the table's cell is the mean over questions.

    `proportion` means 0/1 values (Wilson interval), `mean` any others (seeded bootstrap). `scale` multiplies for print.
    """

    name: str
    kind: Literal["proportion", "mean"] = "proportion"
    scale: float = 100.0
    higher_is_better: bool = True
    profiles: tuple[Profile, ...] = ("as_published", "corrected")


class Derived(msgspec.Struct, frozen=True, kw_only=True):
    """A measure of the whole sample, from the per-question values of others: `combine(columns)` (seeded bootstrap interval)."""

    name: str
    inputs: tuple[str, ...]
    combine: Callable[[Columns], float]
    scale: float = 100.0
    higher_is_better: bool = True
    profiles: tuple[Profile, ...] = ("as_published", "corrected")
