"""Agreement of judges: equal verdicts are counted, unscored ones are left out and counted, other slices do not count."""

from __future__ import annotations

from pathlib import Path

import pytest

from vivavoce.errors import ConfigError
from vivavoce.files import write_records
from vivavoce.grading.base import Value
from vivavoce.records import Judgement, Question
from vivavoce.tables.judge_agreement import table
from vivavoce.tables.listing import Listing, Material, Run, markdown

SPECS = {"b": {"accuracy": Value(name="accuracy")}}
VERDICTS: dict[str, list[float | None]] = {"lexical": [1, 1, 0, 0, None, 1], "model": [1, 0, 0, 1, 1, 0]}


def listing(folder: Path, **options: str) -> Listing:
    questions = [
        Question(id=f"q{n}", benchmark="b", task="airqa", text="?", slices=("subjective",) if n < 5 else ("objective",))
        for n in range(6)
    ]
    write_records(folder / "questions.jsonl", questions)
    runs = []
    for judge, values in VERDICTS.items():
        path = folder / f"{judge}.jsonl"
        write_records(
            path,
            [
                Judgement(
                    question_id=f"q{n}",
                    measure="accuracy",
                    profile="corrected",
                    outcome="answered",
                    value=value,
                    status="unscored" if value is None else "scored",
                )
                for n, value in enumerate(values)
            ],
        )
        runs.append(Run("b", "agent", "m", judge, 0, folder / "questions.jsonl", Path(), path))
    return table(Material(title="T", options=options, notes=["note"], measures=[], specs=SPECS, runs=runs))


def test_each_two_judges_get_a_row_per_player_and_one_for_all(tmp_path: Path) -> None:
    made = listing(tmp_path, measure="accuracy", slice="subjective")
    assert [row[:3] for row in made.rows] == [["lexical", "model", "agent · m"], ["lexical", "model", "all of these"]]
    n, without, first, second, equal, kappa = made.rows[0][3:]
    assert (n, without, first, second, equal) == (4, 1, 50.0, 50.0, 50.0)
    assert kappa == pytest.approx(0.0)  # half of the verdicts are equal, as chance has it
    assert made.rows[0][3:] == made.rows[1][3:]
    assert len(made.headings) == len(made.rows[0])


def test_without_a_slice_all_questions_count(tmp_path: Path) -> None:
    assert listing(tmp_path, measure="accuracy").rows[0][3:5] == [5, 1]


@pytest.mark.parametrize("options", [{}, {"measure": "accuracy", "slices": "x"}, {"measure": "nothing"}])
def test_wrong_options_are_named(tmp_path: Path, options: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match="T"):
        listing(tmp_path, **options)


def test_an_experiment_without_such_rows_has_an_empty_table() -> None:
    made = table(Material(title="T", options={"measure": "accuracy"}, notes=[], measures=[], specs=SPECS, runs=[]))
    assert not made.rows
    assert "judge A" in markdown(made)


def test_a_slice_without_a_question_among_the_first_few_has_an_empty_table(tmp_path: Path) -> None:
    assert not listing(tmp_path, measure="accuracy", slice="formula").rows
