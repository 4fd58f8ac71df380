"""Aggregation: outcomes are not scores, both policies, slices, derived measures and seeds."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from vivavoce.errors import DataError
from vivavoce.files import write_records
from vivavoce.grading.base import Derived, Macro, Statistic, Value
from vivavoce.records import Judgement, Measure, Question
from vivavoce.tables.aggregate import aggregate, mean_over_seeds
from vivavoce.tables.differences import differences
from vivavoce.tables.measures import read_measures, write_measures
from vivavoce.tables.sample import Questions, Sample

NAMES = {"experiment": "e", "benchmark": "b", "agent": "a", "model": "m", "judge": "j", "seed": "0"}
ACCURACY = Value(name="accuracy")
GRADE = Value(name="grade", kind="mean", worst=1.0, scale=1)
SPECS = (
    ACCURACY,
    GRADE,
    Derived(name="product", inputs=("accuracy", "grade"), combine=lambda m: m["accuracy"] * m["grade"]),
    Statistic(name="highest", input="grade", compute=lambda v: float(v.max())),
    Macro(name="by_place", input="accuracy", slices=("text", "table")),
    Macro(name="nowhere", input="accuracy", slices=("text", "formula")),
)


def judged(identity: str, measure: str, value: float | None, **more: Any) -> Judgement:
    return Judgement(question_id=identity, measure=measure, profile="corrected", value=value, **{"outcome": "answered", **more})


@pytest.fixture
def questions(tmp_path: Path) -> Questions:
    path = tmp_path / "questions.jsonl"
    tables = {"q1": ("table",), "q2": ("table", "text"), "q3": ("text",), "q4": ()}
    write_records(
        path, [Question(id=q, benchmark="b", task="airqa", text="?", slices=s, cluster="p") for q, s in tables.items()]
    )
    return Questions(path)


def measured(tmp_path: Path, questions: Questions, judgements: list[Judgement]) -> dict[tuple[str, str, str], Measure]:
    path = tmp_path / "judgements.jsonl"
    write_records(path, judgements)
    lines = aggregate(Sample(path, questions), questions, SPECS, partial(Measure, **NAMES))
    return {(item.measure, item.slice, item.policy): item for item in lines}


def test_a_failure_is_wrong_under_one_policy_and_left_out_under_the_other(tmp_path: Path, questions: Questions) -> None:
    cells = measured(
        tmp_path,
        questions,
        [
            judged("q1", "accuracy", 1.0),
            judged("q2", "accuracy", 1.0),
            judged("q3", "accuracy", 0.0, outcome="error"),
            judged("q4", "accuracy", 0.0, outcome="limit"),
        ],
    )
    wrong, excluded = cells["accuracy", "all", "failures_wrong"], cells["accuracy", "all", "failures_excluded"]
    assert (wrong.value, wrong.n) == (0.5, 4)
    assert (excluded.value, excluded.n) == (1.0, 2)
    for cell in (wrong, excluded):
        assert (cell.n_answered, cell.n_error, cell.n_limit, cell.n_refused) == (2, 1, 1, 0)


def test_a_failed_judge_counts_as_the_worst_value_and_is_counted(tmp_path: Path, questions: Questions) -> None:
    cells = measured(tmp_path, questions, [judged("q1", "grade", 5.0), judged("q2", "grade", None, status="unscored")])
    assert cells["grade", "all", "failures_wrong"].value == 3.0
    assert cells["grade", "all", "failures_excluded"].value == 5.0
    assert cells["grade", "all", "failures_wrong"].n_unscored == 1


def test_slices_count_only_their_questions(tmp_path: Path, questions: Questions) -> None:
    cells = measured(tmp_path, questions, [judged(q, "accuracy", float(q == "q2")) for q in ("q1", "q2", "q3")])
    assert (cells["accuracy", "table", "failures_wrong"].value, cells["accuracy", "table", "failures_wrong"].n) == (0.5, 2)
    assert cells["accuracy", "all", "failures_wrong"].n == 3, "a question without a judgement is no part of n"


def test_derived_measures_use_questions_that_have_all_inputs(tmp_path: Path, questions: Questions) -> None:
    cells = measured(
        tmp_path, questions, [judged("q1", "accuracy", 1.0), judged("q2", "accuracy", 0.0), judged("q1", "grade", 4.0)]
    )
    product = cells["product", "all", "failures_wrong"]
    assert (product.value, product.n) == (4.0, 1)
    assert cells["highest", "all", "failures_wrong"].ci_low is None


def test_unknown_and_double_judgements_stop_with_the_id(tmp_path: Path, questions: Questions) -> None:
    with pytest.raises(DataError, match="unknown question q9"):
        measured(tmp_path, questions, [judged("q9", "accuracy", 1.0)])
    with pytest.raises(DataError, match="two judgements of q1"):
        measured(tmp_path, questions, [judged("q1", "accuracy", 1.0), judged("q1", "accuracy", 1.0)])


def test_seeds_are_averaged_with_their_range(tmp_path: Path, questions: Questions) -> None:
    runs = [measured(tmp_path, questions, [judged("q1", "accuracy", value)]) for value in (1.0, 0.0)]
    mean = [item for item in mean_over_seeds([m for run in runs for m in run.values()]) if item.measure == "accuracy"]
    assert {(item.seed, item.value, item.ci_low, item.ci_high, item.n) for item in mean} == {("mean", 0.5, 0.0, 1.0, 2)}


def test_measures_file_reads_back_as_written(tmp_path: Path, questions: Questions) -> None:
    cells = measured(tmp_path, questions, [judged("q1", "grade", 1 / 3), judged("q2", "grade", None)])
    path = tmp_path / "measures.csv"
    write_measures(path, cells.values())
    assert sorted(map(repr, read_measures(path))) == sorted(map(repr, cells.values()))
    assert path.read_text().splitlines()[0] == (
        "experiment,benchmark,agent,model,judge,seed,profile,measure,slice,value,n,ci_low,ci_high,"
        "n_answered,n_limit,n_invalid,n_refused,n_error,n_unscored,policy"
    )


def test_the_difference_report_lists_each_disagreement(tmp_path: Path, questions: Questions) -> None:
    path = tmp_path / "judgements.jsonl"
    published = {"q1": 1.0, "q2": 0.0, "q3": None}
    write_records(
        path,
        [
            *(judged(q, "accuracy", 0.0) for q in published),
            *(
                Judgement(question_id=q, measure="accuracy", profile="as_published", outcome="answered", value=v)
                for q, v in published.items()
            ),
        ],
    )
    lines = list(differences(("b", "a"), Sample(path, questions), questions))
    assert lines == [("b", "a", "accuracy", "q1", "1", "0"), ("b", "a", "accuracy", "q3", "", "0")]


def test_a_macro_average_weighs_slices_alike(tmp_path: Path, questions: Questions) -> None:
    values = {"q1": 1.0, "q2": 1.0, "q3": 0.0, "q4": 0.0}
    cells = measured(tmp_path, questions, [judged(q, "accuracy", v) for q, v in values.items()])
    macro = cells["by_place", "all", "failures_wrong"]
    assert macro.value == pytest.approx((1.0 + 0.5) / 2)
    assert (macro.n, macro.n_answered) == (3, 3)  # q4 stands in no slice of it
    assert macro.ci_low is not None
    assert macro.ci_high is not None
    assert macro.ci_low <= macro.value <= macro.ci_high
    assert cells["by_place", "text", "failures_wrong"].value == pytest.approx((0.5 + 1.0) / 2)  # of text, q2 is in the other


def test_there_is_no_macro_average_over_an_empty_slice(tmp_path: Path, questions: Questions) -> None:
    cells = measured(tmp_path, questions, [judged("q1", "accuracy", 1.0), judged("q3", "accuracy", 0.0, outcome="error")])
    assert not [key for key in cells if key[0] == "nowhere"]
    assert cells["by_place", "all", "failures_wrong"].value == pytest.approx(0.5)
    assert ("by_place", "all", "failures_excluded") not in cells  # nothing of `text` was answered
