"""The replay proof through the workflow: `experiment=rubrics_published` as a user runs it, and the files that it writes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from vivavoce.files import read_records
from vivavoce.records import Judgement, Question
from vivavoce.tables.measures import read_measures

pytestmark = pytest.mark.workflow
SYSTEMS = ("claude", "gpt", "nora", "perplexity")
UPSTREAM = "raw.githubusercontent.com/allenai/multidoc_qa_eval/6e608607927f1bf179bc45e6e9dde547cfa62510/data"
MEANS = {  # published with snippets: score, and the experts' part of it
    "claude": (0.565146, 0.584011),
    "gpt": (0.486809, 0.588569),
    "nora": (0.612681, 0.499442),
    "perplexity": (0.465965, 0.494154),
}


@pytest.fixture(scope="module")
def results(root: Path, mirror: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """results/ of a run in an empty folder, without network."""
    if not (mirror / "derived/multidoc_qa_eval/recorded_judgements.jsonl").is_file():
        pytest.skip("the mirror holds no recorded rubric judgements")
    folder = tmp_path_factory.mktemp("replay")
    command = [sys.executable, "-m", "snakemake", "-s", str(root / "Snakefile"), "--directory", str(folder), "--cores", "1"]
    run = subprocess.run(
        [*command, "--config", "experiment=rubrics_published", "tracking=none"],
        env={**os.environ, "VIVAVOCE_MIRROR": str(mirror)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    assert run.returncode == 0, run.stdout
    return folder / "results"


def _judgements(results: Path, system: str) -> list[Judgement]:
    path = results / f"judgements/rubrics_filtered/rubric_answers/{system}/s0/recorded_rubrics.jsonl"
    return list(read_records(path, Judgement))


def test_as_published_equals_the_authors_file_in_every_component(results: Path, mirror: Path) -> None:
    published = json.loads((mirror / UPSTREAM / "results_rubrics_gpt4o.json").read_text(encoding="utf-8"))
    questions = read_records(results / "data/rubrics_filtered/questions.jsonl", Question)
    ids = {question.text: question.id for question in questions}
    ours = {
        (system, item.question_id, item.measure): item
        for system in SYSTEMS
        for item in _judgements(results, system)
        if item.profile == "as_published"
    }
    records = components = 0
    for file, rows in published.items():
        for row in rows:
            key = (Path(file).stem, ids[row["question"]])
            criteria = ours[(*key, "rubric_criteria")]
            parts = {name: value for name, value in criteria.detail["parts"].items() if not name.endswith("_evidence")}
            parts |= {"score": criteria.value, "ann_score": ours[(*key, "rubric_criteria_items")].value}
            assert parts == row["scores"], key
            assert criteria.detail["case_id"] == row["case_id"]
            records, components = records + 1, components + len(parts)
    assert (records, components) == (400, 3604)


def test_no_reply_is_missing_with_snippets_and_means_are_the_published_ones(results: Path) -> None:
    for system in SYSTEMS:
        assert [item.reason for item in _judgements(results, system) if item.status == "unscored"] == []
    measures = {
        (item.model, item.measure): item.value
        for item in read_measures(results / "experiments/rubrics_published/measures.csv")
        if (item.profile, item.policy, item.slice) == ("as_published", "failures_wrong", "all")
    }
    for system, (score, items) in MEANS.items():
        assert measures[system, "rubric"] == pytest.approx(score, abs=5e-7)
        assert measures[system, "rubric_items"] == pytest.approx(items, abs=5e-7)


def test_the_table_says_what_corrections_change(results: Path) -> None:
    table = (results / "experiments/rubrics_published/tables/rubrics_published.md").read_text(encoding="utf-8")
    same = "as published nora > claude > gpt > perplexity, the same corrected"
    assert f"Order by without snippets: {same}" in table
    assert f"Order by with snippets: {same}" in table
    assert "Order by experts' items: as published gpt > claude > nora > perplexity" in table
    assert table.count("| difference") == 8
