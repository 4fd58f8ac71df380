"""`conf/table/*.yaml`: which measures a table prints, and which published numbers stand beside them."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from vivavoce.config.base import Strict
from vivavoce.records import Policy, Profile


class Column(Strict):
    """One printed column: a measure of one benchmark on one slice. `published` selects its value in the published file.

    Without a measure the column prints the published value alone: what cannot be computed.
    """

    label: str
    measure: str = ""
    benchmark: str = ""  # empty: the table's only benchmark
    slice: str = "all"
    scale: float | None = None  # None: the measure's own
    digits: int = 1
    interval: bool = True  # whether Markdown and LaTeX show the 95 % interval; CSV always has it
    published: dict[str, str] = {}


class Published(Strict):
    """Rows of a published file: `where` selects its records, `row` names the columns whose values label a printed row."""

    file: str
    where: dict[str, str | list[str]] = {}
    row: list[str] = ["model"]
    source: str
    differs: str = ""  # what is not the same as here, in one sentence
    match: dict[str, str] = {}  # "agent/model" here -> the published row's label, for differences


class Check(Strict):
    """A remark on the printed numbers: `run` is `module:function`, called as `run(lines, **options)`; it returns notes.

    `lines` are `metrics.printed.Line`s; options name columns by their labels, which must be distinct in such a table.
    """

    run: str = Field(pattern=r"^[\w.]+:\w+$")
    options: dict[str, Any] = {}


class TableConfig(Strict):
    """A table: published rows first, then one row an agent, model, judge and profile."""

    name: str
    title: str
    benchmarks: list[str]
    columns: list[Column] = []
    profiles: list[Profile] = ["as_published", "corrected"]
    policy: Policy = "failures_wrong"
    agents: list[str] = []  # whose rows; empty: all; one alone is not named in the rows
    make: str = Field(default="", pattern=r"^([\w.]+:\w+)?$")  # lays out a table of another kind from a `listing.Material`
    reads: list[Literal["rollouts", "judgements"]] = []  # what such a table reads besides the measures and questions
    options: dict[str, Any] = {}  # of such a table
    notes: list[str] = []
    published: list[Published] = []
    checks: list[Check] = []
