"""A table as rows of cells, from measures and published numbers, before it is printed in any format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import signature

import msgspec

from vivavoce.config.base import load
from vivavoce.config.table import Column, TableConfig
from vivavoce.errors import ConfigError
from vivavoce.grading.base import MeasureSpec
from vivavoce.metrics.printed import Line
from vivavoce.records import Measure
from vivavoce.tables.published import published_rows

Specs = Mapping[str, Mapping[str, MeasureSpec]]  # benchmark -> measure -> its specification
FAILURES = ("limit", "invalid", "refused", "error", "unscored")


class Cell(msgspec.Struct, frozen=True):
    """A printed value in the column's units, with its interval and how many questions stand behind it.

    `shown`: whether the interval is printed for people.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    digits: int = 1
    shown: bool = True


class Row(msgspec.Struct, frozen=True):
    """One line: who (`label`), under which profile, the cells, and how many questions ended in each failure."""

    label: str
    profile: str  # published, as_published, corrected, difference
    cells: list[Cell]
    failures: dict[str, int] = {}


class Grid(msgspec.Struct, frozen=True):
    """A whole table. `notes` are printed below it."""

    title: str
    columns: list[str]
    rows: list[Row]
    notes: list[str]


def build(table: TableConfig, measures: Sequence[Measure], specs: Specs, notes: Sequence[str] = ()) -> Grid:
    """Lay out a table: published rows, then ours by agent, model, judge and profile, with differences where rows match."""
    published = [(block, label, values) for block in table.published for label, values in published_rows(block, table.columns)]
    rows = [
        Row(
            label=label,
            profile="published",
            cells=[Cell(v, digits=c.digits) for v, c in zip(values, table.columns, strict=True)],
        )
        for _, label, values in published
    ]
    labels = {label: values for _, label, values in published}
    matches = {ours: theirs for block in table.published for ours, theirs in block.match.items()}
    index = _index(table, measures)
    names = _Names(sorted({(key[0], key[1], key[2]) for key in index}), keep_model=bool(table.published or table.agents))
    for agent, model, judge in names.all:
        for profile in table.profiles:
            own = [index.get((agent, model, judge, profile, *_place(column, table))) for column in table.columns]
            if not any(own):
                continue
            cells = [_cell(item, column, table, specs) for item, column in zip(own, table.columns, strict=True)]
            label = names.label("" if len(table.agents) == 1 and model != "none" else agent, model, judge)
            rows.append(Row(label=label, profile=profile, cells=cells, failures=_failures(own, table)))
            theirs = labels.get(matches.get(f"{agent}/{model}", ""))
            if theirs is not None:
                rows.append(Row(label=label, profile="difference", cells=_minus(cells, theirs)))
    sources = [f"Published: {block.source}." + (f" {block.differs}" if block.differs else "") for block in table.published]
    notes = [*names.notes(), *table.notes, *sources, *_remarks(table, rows), *notes]
    return Grid(title=table.title, columns=[column.label for column in table.columns], rows=rows, notes=notes)


def _remarks(table: TableConfig, rows: Sequence[Row]) -> list[str]:
    """The notes of the table's checks."""
    if not table.checks:
        return []
    labels = [column.label for column in table.columns]
    where = f"conf/table/{table.name}.yaml: checks"
    if twice := sorted({label for label in labels if labels.count(label) > 1}):
        raise ConfigError(f"{where}: column label(s) stand twice: {', '.join(twice)}. Checks name columns by label.")
    lines = [
        Line(row.label, row.profile, {n: c.value for n, c in zip(labels, row.cells, strict=True) if c.value is not None})
        for row in rows
    ]
    notes = []
    for check in table.checks:
        run = load(check.run, where)
        try:
            signature(run).bind(lines, **check.options)
        except TypeError as error:
            raise ConfigError(f"{where}: {check.run}: options: {error}.") from None
        notes += run(lines, **check.options)
    return notes


def _index(table: TableConfig, measures: Sequence[Measure]) -> dict[tuple[str, ...], Measure]:
    seeds = {item.seed for item in measures}
    seed = "mean" if "mean" in seeds else "0"
    return {
        (item.agent, item.model, item.judge, item.profile, item.benchmark, item.measure, item.slice): item
        for item in measures
        if item.policy == table.policy
        and item.seed == seed
        and item.benchmark in table.benchmarks
        and (not table.agents or item.agent in table.agents)
    }


def _place(column: Column, table: TableConfig) -> tuple[str, str, str]:
    return column.benchmark or table.benchmarks[0], column.measure, column.slice


def _cell(item: Measure | None, column: Column, table: TableConfig, specs: Specs) -> Cell:
    if item is None:
        return Cell(None, digits=column.digits)
    benchmark, measure, _ = _place(column, table)
    scale = column.scale if column.scale is not None else specs[benchmark][measure].scale
    value, low, high = (None if number is None else number * scale for number in (item.value, item.ci_low, item.ci_high))
    return Cell(value, low, high, item.n, column.digits, column.interval)


def _failures(items: Sequence[Measure | None], table: TableConfig) -> dict[str, int]:
    """Failed questions of a row: each benchmark counted once, by the column of it that holds the most questions."""
    widest: dict[str, Measure] = {}
    for item in items:
        if item is not None and (item.benchmark not in widest or item.n > widest[item.benchmark].n):
            widest[item.benchmark] = item
    return {kind: sum(getattr(item, f"n_{kind}") for item in widest.values()) for kind in FAILURES}


def _minus(cells: Sequence[Cell], theirs: Sequence[float | None]) -> list[Cell]:
    return [
        Cell(None if ours.value is None or value is None else ours.value - value, digits=ours.digits)
        for ours, value in zip(cells, theirs, strict=True)
    ]


class _Names:
    """What our rows are called: agent, model and judge, without a model or judge that all of them share (a note says it).

    Beside published rows the model stays in the label.
    """

    def __init__(self, names: list[tuple[str, str, str]], *, keep_model: bool) -> None:
        self.all = names
        models, judges = ({name[place] for name in names} for place in (1, 2))
        self._model = next(iter(models)) if len(models) == 1 and not keep_model else ""
        self._judge = next(iter(judges)) if len(judges) == 1 else ""

    def label(self, agent: str, model: str, judge: str) -> str:
        model = "" if model in ("none", self._model) else model
        judge = "" if judge in ("none", self._judge) else f"judge {judge}"
        return " · ".join(filter(None, (agent, model, judge)))

    def notes(self) -> list[str]:
        shared = {"model": self._model, "judge": self._judge}
        said = " and ".join(f"{what} {name}" for what, name in shared.items() if name not in ("", "none"))
        return [f"All our rows: {said}."] if said else []
