"""Pairs predicted and gold elements one to one, whatever their order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


def pairs(left: Sequence[Any], right: Sequence[Any], same: Callable[[Any, Any], bool]) -> int:
    """The most elements of `left` that can be paired with an element of `right` of their own (maximum bipartite matching).

    `same` need not be transitive (tolerances, fuzzy ratios), so greedy pairing would depend on the order.
    """
    edges = [[j for j, other in enumerate(right) if same(item, other)] for item in left]
    partner: dict[int, int] = {}
    return sum(_augment(i, edges, partner) for i in range(len(left)))


def _augment(start: int, edges: Sequence[Sequence[int]], partner: dict[int, int]) -> bool:
    """Find a path from `start` to a free element and flip it; iterative, so that no list is too long for it."""
    came_from: dict[int, int] = {}  # right element -> left element that reached it
    queue = [start]
    for i in queue:
        for j in edges[i]:
            if j in came_from:
                continue
            came_from[j] = i
            if j in partner:
                queue.append(partner[j])
                continue
            while True:
                i, previous = came_from[j], next((k for k, v in partner.items() if v == came_from[j]), None)
                partner[j] = i
                if i == start:
                    return True
                assert previous is not None
                j = previous
    return False
