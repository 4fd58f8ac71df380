"""What each defect of SciDQA's published scorer does to the table of precision and to the ranks, measured on its own answers.

Defects are numbered as in docs/divergences.md, section SciDQA. Ranks are those within a configuration by ROUGE-1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vivavoce.config.base import Frozen
from vivavoce.tables.listing import Heading, Listing, Material, Run, Value
from vivavoce.tables.scidqa_rescored import SCRAMBLED, TYPES, order_of, rescore

Row = tuple[str, str]  # configuration, model
Means = Mapping[Row, NDArray[np.float64]]  # ROUGE-1, -2, -L in percent

LINES = {
    "prefix": 'the gold\'s leading "A: " taken away',
    "gold": "the released golds in place of the older ones",
    "column": "the cleaned answer in place of the first column (lists of chunks, chat headers, split characters)",
    "failures": "no words in place of empty cells (`nan`), SKIPPED, [] and ?",
    "row": "joined by row position, a file in the usual order read first",
    SCRAMBLED: "joined by row position, the file in another order read first",
    "answered": "mean over answered questions alone",
    "f1": "F1 in place of precision",
    "recall": "recall in place of precision",
}


class Options(Frozen):
    """`other_order` is agent/model of the response file whose rows lie in another order than the others'."""

    other_order: str


class Effect(NamedTuple):
    """What one change does to all cells: `changed` counts rows whose precision differs at one decimal in any type."""

    rows: int
    changed: int
    mean: float  # of ROUGE-1, signed
    largest: NDArray[np.float64]  # by type, signed
    where: str
    moved: int  # rows whose rank changes
    furthest: int  # places


def table(material: Material) -> Listing:
    """One line a defect."""
    base, changed = _means(material)
    rows: list[Sequence[Value]] = []
    for name, label in LINES.items() if base else ():
        effect = effect_of(base, changed[name])
        largest = [float(value) for value in effect.largest]
        rows.append([label, effect.changed, effect.mean, *largest, effect.where, effect.moved, effect.furthest])
    headings = [
        *(Heading("as published, but"), Heading(f"rows changed (of {len(base)})"), Heading("mean change R-1", 2, signed=True)),
        *(Heading(f"largest {name}", 2, signed=True) for name in ("R-1", "R-2", "R-L")),
        *(Heading("largest R-1 at"), Heading("ranks that change"), Heading("furthest, places")),
    ]
    return Listing(material.title, headings, rows, material.notes)


def row_join(material: Material) -> Listing:
    """The configuration with a file in another order: ROUGE-1 precision joined by id, and by row in both ways."""
    configuration = material.checked(Options).other_order.partition("/")[0]
    base, changed = _means(material, configuration)
    # The file that is read first is joined rightly.
    ways = [base, changed["row"], {**base, **changed[SCRAMBLED]}]
    ranks = [_ranks(means) for means in ways]
    rows: list[Sequence[Value]] = []
    for row in sorted(base, key=ranks[0].__getitem__):
        pairs = [(float(means[row][0]), places[row]) for means, places in zip(ways, ranks, strict=True)]
        rows.append([row[1], *(value for pair in pairs for value in pair)])
    labels = ("joined by id", "joined by row, usual order first", "joined by row, other order first")
    headings = [Heading("model"), *(heading for name in labels for heading in (Heading(name, 2), Heading("rank")))]
    return Listing(material.title, headings, rows, material.notes)


def effect_of(base: Means, changed: Means) -> Effect:
    """Compare two tables of means; rows that `changed` lacks stay as they are."""
    after = {row: changed.get(row, values) for row, values in base.items()}
    moves = {row: after[row] - values for row, values in base.items()}
    changes = np.array(list(moves.values()))
    at = np.abs(changes).argmax(axis=0)
    old, new = _by_configuration(base), _by_configuration(after)
    places = [abs(old[row] - new[row]) for row in base]
    largest = changes[at, np.arange(len(TYPES))]
    return Effect(
        rows=len(base),
        changed=sum(any(np.round(after[row], 1) != np.round(values, 1)) for row, values in base.items()),
        mean=float(changes[:, 0].mean()),
        largest=largest,
        where=" ".join(list(base)[at[0]]) if largest[0] else "",
        moved=sum(place > 0 for place in places),
        furthest=max(places),
    )


def _means(material: Material, configuration: str = "") -> tuple[Means, dict[str, Means]]:
    """The table (of one configuration) as published, and under each line of LINES."""
    options = material.checked(Options)
    agent, _, model = options.other_order.partition("/")
    runs = [run for run in material.runs if run.seed == 0 and configuration in ("", run.agent)]
    other = next((run for run in runs if (run.agent, run.model) == (agent, model)), None)
    order = order_of(other.rollouts, other.questions) if other else None
    found = list(rescore(runs, order, agent, material.threads))
    base = {_row(item.run): item.means[""] for item in found}
    changed: dict[str, Means] = {
        name: {_row(item.run): item.means[name] for item in found if name in item.means} for name in LINES
    }
    changed[SCRAMBLED] = {row: means for row, means in changed[SCRAMBLED].items() if row != (agent, model)}
    changed["answered"] = {_row(item.run): item.answered for item in found}
    for part in ("f1", "recall"):
        changed[part] = _measured(material, part)
    return base, changed


def _measured(material: Material, part: str) -> Means:
    names = [f"{name}_{part}" for name in TYPES]
    values = {
        (item.agent, item.model, item.measure): item.value
        for item in material.measures
        if (item.profile, item.policy, item.slice, item.seed) == ("as_published", "failures_wrong", "all", "0")
    }
    rows = {_row(run) for run in material.runs}
    return {row: np.array([100 * (values[(*row, name)] or 0.0) for name in names]) for row in rows}


def _row(item: Run) -> Row:
    return item.agent, item.model


def _by_configuration(means: Means) -> dict[Row, int]:
    configurations = {row[0] for row in means}
    return {
        row: rank
        for name in configurations
        for row, rank in _ranks({row: values for row, values in means.items() if row[0] == name}).items()
    }


def _ranks(means: Means) -> dict[Row, int]:
    order = sorted(means, key=lambda row: (-means[row][0], row))
    return {row: rank for rank, row in enumerate(order, 1)}
