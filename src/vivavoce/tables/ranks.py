"""Ranks of models within each agent under both profiles, and whether neighbours in rank differ at all.

Each model is compared with the next one below it by a bootstrap over clusters of questions (`paired_difference`: the same
resamples for both); p-values are adjusted by Holm's method (1979) within the agent's comparisons under a profile.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby, pairwise

import numpy as np
from numpy.typing import NDArray

from vivavoce.config.base import Frozen
from vivavoce.metrics.intervals import paired_difference
from vivavoce.records import Profile
from vivavoce.tables.listing import Heading, Listing, Material, Run, Value
from vivavoce.tables.sample import Questions
from vivavoce.tables.values import Floats, values_of

PROFILES: tuple[Profile, ...] = ("as_published", "corrected")


class Options(Frozen):
    """The measure that ranks under each profile: what the authors print, and what should be printed."""

    as_published: str
    corrected: str
    digits: int = 1


class Standing(dict[str, tuple[int, float]]):
    """Model -> rank from 1, and mean; `next` gives a model's difference to the one below it: (difference, low, high, p)."""

    def __init__(self, values: Mapping[str, Floats], clusters: NDArray[np.int64]) -> None:
        means = {model: float(np.mean(column)) for model, column in values.items()}
        order = sorted(means, key=lambda model: (-means[model], model))
        super().__init__({model: (rank, means[model]) for rank, model in enumerate(order, 1)})
        compared = [paired_difference(values[a], values[b], clusters) for a, b in pairwise(order)]
        adjusted = holm([item[3] for item in compared])
        self.next = {model: (*item[:3], p) for model, item, p in zip(order, compared, adjusted, strict=False)}


def holm(p: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values, in the order given."""
    order = sorted(range(len(p)), key=lambda index: p[index])
    adjusted, highest = [0.0] * len(p), 0.0
    for rank, index in enumerate(order):
        highest = max(highest, min(1.0, (len(p) - rank) * p[index]))
        adjusted[index] = highest
    return adjusted


def table(material: Material) -> Listing:
    """One row a model, by agent and by its rank as published; failures count as wrong."""
    options = material.checked(Options)
    measures = dict(zip(PROFILES, (options.as_published, options.corrected), strict=True))
    rows: list[Sequence[Value]] = []
    moved, unsettled, neighbours = 0, dict.fromkeys(PROFILES, 0), 0
    for agent, runs in groupby((run for run in material.runs if run.seed == 0), key=lambda run: run.agent):
        standings = _standings(list(runs), measures, material)
        old, new = (standings[profile] for profile in PROFILES)
        for model, (rank, _) in old.items():
            moved += rank != new[model][0]
            rows.append([agent, model, *_part(old, model), *_part(new, model), rank - new[model][0]])
        neighbours += max(0, len(old) - 1)
        for profile, standing in standings.items():
            unsettled[profile] += sum(p >= 0.05 for *_, p in standing.next.values())
    notes = [
        "d: difference to the model that is next below, with its 95 % interval; p: adjusted by Holm within the configuration.",
        f"{moved} of {len(rows)} models change their rank; of {neighbours} pairs of neighbours, {unsettled['as_published']} "
        f"(as published) and {unsettled['corrected']} (corrected) cannot be told apart at 5 %.",
    ]
    headings = [Heading("configuration"), Heading("model")]
    for label, measure in (("as published", options.as_published), ("corrected", options.corrected)):
        headings += [
            Heading(f"rank {label}"),
            Heading(measure, options.digits),
            Heading("d", options.digits),
            Heading("interval"),
            Heading("p", 3),
        ]
    return Listing(material.title, [*headings, Heading("change", signed=True)], rows, [*notes, *material.notes])


def _standings(runs: Sequence[Run], measures: Mapping[Profile, str], material: Material) -> dict[Profile, Standing]:
    questions = Questions(runs[0].questions)
    values: dict[Profile, dict[str, Floats]] = {profile: {} for profile in PROFILES}
    for run in runs:
        for (profile, measure), column in values_of(run.judgements, questions, measures.items()).items():
            values[profile][run.model] = np.nan_to_num(column) * material.specs[run.benchmark][measure].scale
    return {profile: Standing(columns, questions.clusters) for profile, columns in values.items()}


def _part(standing: Standing, model: str) -> list[Value]:
    rank, mean = standing[model]
    if model not in standing.next:
        return [rank, mean, None, None, None]
    difference, low, high, p = standing.next[model]
    return [rank, mean, difference, f"[{low:.1f}, {high:.1f}]", p]
