"""Tables with free columns: print in all formats, options by name, single measures of a judgements file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pydantic import BaseModel, ConfigDict

from vivavoce.errors import ConfigError, DataError
from vivavoce.files import write_records
from vivavoce.records import Judgement, Question
from vivavoce.tables.listing import Heading, Listing, Material, comma_separated, latex, markdown
from vivavoce.tables.sample import Questions
from vivavoce.tables.values import values_of

LISTING = Listing(
    "Changes",
    [Heading("model"), Heading("d", 2, signed=True), Heading("rank")],
    [["a_b", 1.25, 1], ["c & d", -0.5, 12], ["none", None, None]],
    ["A note."],
)


def test_formats() -> None:
    assert markdown(LISTING).splitlines() == [
        "**Changes**",
        "",
        "| model |     d | rank |",
        "| ----- | ----: | ---: |",
        "| a_b   | +1.25 |    1 |",
        "| c & d | -0.50 |   12 |",
        "| none  |     - |    - |",
        "",
        "* A note.",
    ]
    assert comma_separated(LISTING) == "model,d,rank\na_b,1.25,1\nc & d,-0.5,12\nnone,,\n"
    assert r"a\_b & +1.25 & 1 \\" in latex(LISTING)
    assert r"\begin{tabular}{lrr}" in latex(LISTING)


class Options(BaseModel):
    model_config = ConfigDict(extra="forbid")
    measure: str


def test_options_are_named_when_they_are_wrong() -> None:
    material = Material(title="T", options={"measur": "x"}, notes=[], measures=[], specs={}, runs=[])
    with pytest.raises(ConfigError, match="table 'T': options: measure: Field required; measur: Extra"):
        material.checked(Options)


def test_values_by_the_order_of_the_questions(tmp_path: Path) -> None:
    write_records(tmp_path / "q", [Question(id=i, benchmark="b", task="t", text="?") for i in "abc"])
    lines = [
        Judgement(question_id=i, measure=m, profile="corrected", outcome="answered", value=v)
        for i, m, v in [("c", "x", 3.0), ("a", "x", 1.0), ("a", "x_y", 9.0)]
    ]
    write_records(tmp_path / "j", lines)
    questions = Questions(tmp_path / "q")
    found = values_of(tmp_path / "j", questions, [("corrected", "x")])
    np.testing.assert_array_equal(found["corrected", "x"], [1.0, np.nan, 3.0])
    with pytest.raises(DataError, match="no value of as_published/x"):
        values_of(tmp_path / "j", questions, [("as_published", "x")])
