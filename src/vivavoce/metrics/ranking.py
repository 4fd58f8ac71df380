"""Measures of a ranked list with one or more right places (Manning, Raghavan and Schuetze, Introduction to Information
Retrieval, ch. 8).
"""

from __future__ import annotations

from collections.abc import Sequence


def recall_at(k: int, relevant: Sequence[bool], total: int = 1) -> float:
    """The share of `total` right items that stand among the first `k` of a ranking, in [0, 1].

    `relevant[i]` says whether the item at rank i + 1 is right; more than `total` right ones (the same paper twice) count as
    `total`. Raises ValueError unless k and total are positive.
    """
    if k < 1 or total < 1:
        raise ValueError(f"k and total must be at least 1: k={k}, total={total}")
    return min(sum(map(bool, relevant[:k])), total) / total


def reciprocal_rank(relevant: Sequence[bool]) -> float:
    """1 / rank of the first right item, 0 if there is none."""
    return next((1 / rank for rank, right in enumerate(relevant, 1) if right), 0.0)
