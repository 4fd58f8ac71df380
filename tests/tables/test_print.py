"""Tables: published rows, differences, failures, and the three formats."""

from __future__ import annotations

import csv
import io

import pytest

from vivavoce.config.table import Column, Published, TableConfig
from vivavoce.errors import ConfigError
from vivavoce.grading.base import Value
from vivavoce.records import Measure
from vivavoce.tables.grid import build
from vivavoce.tables.published import published_rows
from vivavoce.tables.render import comma_separated, latex, markdown

TABLE = TableConfig(
    name="t",
    title="A title with 100 % & more",
    benchmarks=["b"],
    columns=[
        Column(label="Avg", measure="accuracy", published={"category": "AVG"}),
        Column(label="text", measure="accuracy", slice="text", published={"category": "text"}),
    ],
    profiles=["corrected"],
    published=[
        Published(
            file="airqa",
            where={"table": "Table 2", "method": "NeuSym-RAG", "dataset": "AirQA-Real", "model": "GPT-4o-mini"},
            row=["model", "method"],
            source="NeuSym-RAG, Table 2",
            match={"hybrid/m_1": "GPT-4o-mini · NeuSym-RAG"},
        )
    ],
)


def measure(slice_: str, value: float, **more: object) -> Measure:
    fields = {
        "experiment": "e", "benchmark": "b", "agent": "hybrid", "model": "m_1", "judge": "none", "seed": "0",
        "profile": "corrected", "measure": "accuracy", "slice": slice_, "value": value, "n": 4, "ci_low": value / 2,
        "ci_high": 1.0, "n_answered": 3, "n_limit": 0, "n_invalid": 0, "n_refused": 0, "n_error": 1, "n_unscored": 0,
        "policy": "failures_wrong",
    }  # fmt: skip
    return Measure(**{**fields, **more})


GRID = build(TABLE, [measure("all", 0.5), measure("text", 0.25)], {"b": {"accuracy": Value(name="accuracy")}}, ["A note."])


def test_rows_are_published_ours_and_their_difference() -> None:
    assert [(row.label, row.profile, [cell.value for cell in row.cells]) for row in GRID.rows] == [
        ("GPT-4o-mini · NeuSym-RAG", "published", [30.7, 33.0]),
        ("hybrid · m_1", "corrected", [50.0, 25.0]),
        ("hybrid · m_1", "difference", [pytest.approx(19.3), -8.0]),
    ]


def test_markdown_is_aligned_and_says_n_and_failures() -> None:
    text = markdown(GRID)
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert len({len(line) for line in table}) == 1
    assert "Avg (n=4)" in table[0]
    assert "50.0 [25.0, 100.0]" in text
    assert "1 error" in text
    assert "+19.3" in text
    assert text.endswith("* A note.\n")


def test_csv_has_every_number() -> None:
    rows = list(csv.DictReader(io.StringIO(comma_separated(GRID))))
    assert rows[1]["Avg"] == "50"
    assert (rows[1]["text low"], rows[1]["text n"], rows[1]["error"]) == ("12.5", "4", "1")


def test_latex_is_escaped_and_balanced() -> None:
    text = latex(GRID)
    assert r"hybrid $\cdot$ m\_1" in text
    assert r"100 \% \& more" in text
    body = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert {line.count(" & ") for line in body} == {4}
    assert text.count(r"\begin{") == text.count(r"\end{") == 2


def test_a_wrong_published_file_or_key_is_named() -> None:
    with pytest.raises(ConfigError, match="published file 'nix'"):
        list(published_rows(Published(file="nix", source="s"), []))
    with pytest.raises(ConfigError, match="no column 'methode'"):
        list(published_rows(Published(file="airqa", source="s", row=["methode"]), []))


def test_what_all_rows_share_is_said_once() -> None:
    plain = TABLE.model_copy(update={"published": []})
    specs = {"b": {"accuracy": Value(name="accuracy")}}
    measures = [measure("all", 0.5, judge="lexical"), measure("all", 0.4, agent="lead", judge="lexical")]
    alike = build(plain, measures, specs)
    assert [row.label for row in alike.rows] == ["hybrid", "lead"]
    assert alike.notes == ["All our rows: model m_1 and judge lexical."]
    mixed = build(plain, [*measures, measure("all", 0.6, model="m_2", judge="other")], specs)
    assert [row.label for row in mixed.rows] == [
        "hybrid · m_1 · judge lexical",
        "hybrid · m_2 · judge other",
        "lead · m_1 · judge lexical",
    ]
    assert mixed.notes == []
    assert build(TABLE, measures, specs).rows[-1].label == "lead · m_1"  # beside published rows the model stays


def test_an_interval_may_be_left_to_the_csv() -> None:
    short = TABLE.model_copy(update={"columns": [TABLE.columns[0].model_copy(update={"interval": False})]})
    grid = build(short, [measure("all", 0.5)], {"b": {"accuracy": Value(name="accuracy")}})
    assert "[25.0, 100.0]" not in markdown(grid)
    assert list(csv.DictReader(io.StringIO(comma_separated(grid))))[1]["Avg low"] == "25"


def test_two_scorers_that_agree_are_one_line_for_readers() -> None:
    table = TABLE.model_copy(update={"published": [], "profiles": ["as_published", "corrected"]})
    specs = {"b": {"accuracy": Value(name="accuracy")}}
    same = [measure("all", 0.5, profile=profile) for profile in ("as_published", "corrected")]
    lead = [measure("all", value, agent="lead", profile=p) for p, value in (("as_published", 0.3), ("corrected", 0.4))]
    grid = build(table, [*same, *lead], specs)
    lines = [line.split("|")[1:3] for line in markdown(grid).splitlines() if line.startswith("|")][2:]
    assert [[part.strip() for part in line] for line in lines] == [
        ["hybrid", "both"],
        ["lead", "as published"],
        ["lead", "corrected"],
    ]
    assert [row["scorer"] for row in csv.DictReader(io.StringIO(comma_separated(grid)))][:2] == ["as_published", "corrected"]
