"""Remarks on the lines of a printed table: what `checks` of a conf/table/*.yaml name. Pure: lines in, notes out.

A check is called as `check(lines, **options)`; its options name columns by their labels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from vivavoce.metrics import consistency


class Line(NamedTuple):
    """One printed row: who, under which profile (`published`: a paper's), and its known values by column label, as printed."""

    label: str
    profile: str
    values: Mapping[str, float]


def whole_counts(
    lines: Sequence[Line], *, sizes: Mapping[str, int], total: str = "", parts: Sequence[str] = (), decimals: int = 1
) -> list[str]:
    """Published percentages that no whole count over `sizes` (column -> questions) gives, or that their parts do not weigh to.

    See `metrics.consistency.flags`; `parts` are disjoint columns that make up the whole, column `total`.
    """
    notes = []
    for line in lines:
        if line.profile == "published":
            row = {"all" if name == total else name: value for name, value in line.values.items()}
            known = {"all" if name == total else name: size for name, size in sizes.items()}
            for name, reason in consistency.flags(row, known, tuple(parts), decimals).items():
                notes.append(f"Cannot be right: {line.label}, {total if name == 'all' else name}: {reason}.")
    return notes


def order(lines: Sequence[Line], *, columns: Sequence[str], digits: int = 1) -> list[str]:
    """For each column: our rows from best to worst, as published and corrected, and what the corrections change in each."""
    ours = [line for line in lines if line.profile in ("as_published", "corrected")]
    names = _short(dict.fromkeys(line.label for line in ours))
    return [note for column in columns for note in _order(ours, names, column, digits)]


def _order(lines: Sequence[Line], names: Mapping[str, str], column: str, digits: int) -> Iterator[str]:
    by = {
        profile: {names[line.label]: line.values[column] for line in lines if line.profile == profile and column in line.values}
        for profile in ("as_published", "corrected")
    }
    published, corrected = by["as_published"], by["corrected"]
    both = [name for name in published if name in corrected]
    if len(both) < 2:
        return
    ranked = [sorted(both, key=lambda name: (-values[name], name)) for values in (published, corrected)]
    changes = ", ".join(f"{name} {corrected[name] - published[name]:+.{digits}f}" for name in ranked[0])
    verdict = "the same corrected" if ranked[0] == ranked[1] else f"corrected {' > '.join(ranked[1])}: the order CHANGES"
    yield f"Order by {column}: as published {' > '.join(ranked[0])}, {verdict}. The corrections change {changes}."


def _short(labels: Mapping[str, None]) -> dict[str, str]:
    """Labels without the parts that all of them share."""
    split = {label: label.split(" · ") for label in labels}
    shared = set.intersection(*(set(parts) for parts in split.values())) if len(split) > 1 else set()
    return {label: " · ".join(part for part in parts if part not in shared) or label for label, parts in split.items()}
