"""Aggregation in processes gives what aggregation in one gives, in the same order."""

from __future__ import annotations

from pathlib import Path

from vivavoce.files import write_records
from vivavoce.records import Judgement, Question
from vivavoce.tables.collect import FEW, Source, collect


def test_processes_change_nothing(tmp_path: Path) -> None:
    write_records(
        tmp_path / "q", [Question(id=f"q{i}", benchmark="b", task="claim", text="?", slices=("s",)) for i in range(9)]
    )
    sources = []
    for file in range(FEW + 2):
        path = tmp_path / f"j{file}"
        values = [(f"q{i}", float((i + file) % 2)) for i in range(9)]
        write_records(
            path,
            [
                Judgement(
                    question_id=q,
                    measure="accuracy",
                    profile=profile,
                    outcome="answered",
                    value=v if profile == "corrected" else 1,
                )
                for q, v in values
                for profile in ("as_published", "corrected")
            ],
        )
        sources.append(Source(path, ("b", "a", f"m{file}", "j", "0"), tmp_path / "q", "vivavoce.grading.airqa", "e"))
    alone, together = list(collect(sources, 1)), list(collect(sources, 2))
    assert together == alone
    assert [lines[0][2] for _, lines in together] == [f"m{file}" for file in range(FEW + 2)]
