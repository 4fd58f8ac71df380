"""Replay proof: 2,831 recorded judge replies reproduce the published per-question results, through the very graders.

Data: allenai/multidoc_qa_eval@6e608607 (answers of four systems, filtered rubrics, results), read from the mirror.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from vivavoce.benchmarks.scholarqabench import read
from vivavoce.grading.rubric import grade
from vivavoce.judges.base import run_grading
from vivavoce.judges.recorded import RecordedJudge
from vivavoce.records import Judgement, Question, Rollout

SYSTEMS = ("claude", "gpt", "nora", "perplexity")
# spec 5.1: length, expertise, citations, excerpts, score and annotated score (rubrics only), to six decimals
MEANS = {
    "claude": (0.007967, 0.881, 0.826455, 0.05, 0.665945, 0.752010),
    "gpt": (0.009733, 0.882, 0.445403, 0.0, 0.605913, 0.787076),
    "nora": (0.003133, 0.822, 0.876855, 0.963878, 0.722688, 0.682788),
    "perplexity": (0.529267, 0.862, 0.487879, 0.023333, 0.565587, 0.660191),
}
COLUMNS = (
    "rubric_length", "rubric_expertise", "rubric_citations", "rubric_excerpts", "rubric_criteria", "rubric_criteria_items",
)  # fmt: skip


@pytest.fixture(scope="module")
def upstream(mirror: Path) -> Path:
    return mirror / "raw.githubusercontent.com/allenai/multidoc_qa_eval/6e608607927f1bf179bc45e6e9dde547cfa62510/data"


@pytest.fixture(scope="module")
def recorded(mirror: Path) -> Path:
    return mirror / "derived/multidoc_qa_eval/recorded_judgements.jsonl"


@pytest.fixture(scope="module")
def questions(upstream: Path) -> list[Question]:
    found = list(read({"questions": upstream / "jena/test_configs_snippets_gpt4o.json"}, {"task": "cs"}))
    assert len(found) == 100
    return [_with(question, annotators="first") for question in found]


def _with(question: Question, **gold: Any) -> Question:
    import msgspec

    return msgspec.structs.replace(question, gold=question.gold | gold)


@pytest.fixture(scope="module")
def replayed(questions: list[Question], upstream: Path, recorded: Path) -> dict[str, dict[str, list[Judgement]]]:
    """system -> question id -> judgements, with snippets; a reply that is not recorded would stop the run."""
    judge = RecordedJudge(None, {"path": str(recorded), "on_miss": "stop"})
    found: dict[str, dict[str, list[Judgement]]] = {}
    for system in SYSTEMS:
        lines = (upstream / f"src_answers/{system}.jsonl").read_text(encoding="utf-8").splitlines()
        answers = {row["case_id"]: row["answer_text"] for row in map(json.loads, lines)}
        found[system] = {}
        for question in questions:
            rollout = Rollout(
                question_id=question.id,
                agent="predictions",
                model=system,
                seed=0,
                outcome="answered",
                answer=answers[question.gold["rubrics"][0]["case_id"]],
            )
            found[system][question.id] = asyncio.run(run_grading(grade(question, rollout), judge))
    return found


def _value(judgements: list[Judgement], measure: str, profile: str) -> float | None:
    return next(item.value for item in judgements if item.measure == measure and item.profile == profile)


def test_published_results_are_reproduced_exactly(
    replayed: dict[str, dict[str, list[Judgement]]], questions: list[Question], upstream: Path
) -> None:
    results = json.loads((upstream / "results_rubrics_gpt4o.json").read_text(encoding="utf-8"))
    ids = {question.text: question.id for question in questions}
    records = components = 0
    for file, rows in results.items():
        for row in rows:
            judgements = replayed[Path(file).stem][ids[row["question"]]]
            criteria = next(j for j in judgements if j.measure == "rubric_criteria" and j.profile == "as_published")
            assert (criteria.detail["case_id"], criteria.detail["annotator"]) == (row["case_id"], row["annotator"])
            ours = {name: value for name, value in criteria.detail["parts"].items() if not name.endswith("_evidence")}
            ours["score"] = criteria.value
            ours["ann_score"] = _value(judgements, "rubric_criteria_items", "as_published")
            assert ours == row["scores"]  # every component, to the last bit
            records, components = records + 1, components + len(ours)
    assert (records, components) == (400, 3604)


@pytest.mark.parametrize("system", SYSTEMS)
def test_means_are_those_of_the_specification(replayed: dict[str, dict[str, list[Judgement]]], system: str) -> None:
    for measure, expected in zip(COLUMNS, MEANS[system], strict=True):
        values = [_value(judgements, measure, "as_published") for judgements in replayed[system].values()]
        assert sum(v for v in values if v is not None) / 100 == pytest.approx(expected, abs=5e-7)


def test_nothing_is_unscored_with_snippets(replayed: dict[str, dict[str, list[Judgement]]]) -> None:
    rubric = [j for by in replayed.values() for js in by.values() for j in js if j.measure.startswith("rubric")]
    assert len(rubric) == 4 * 100 * 9 * 2
    assert [j.reason for j in rubric if j.status == "unscored" and j.profile == "as_published"] == []


def test_missing_reply_names_system_case_and_item(questions: list[Question], recorded: Path) -> None:
    judge = RecordedJudge(None, {"path": str(recorded)})
    rollout = Rollout(question_id=questions[0].id, agent="a", model="nobody", seed=0, outcome="answered", answer="An answer.")
    judgements = asyncio.run(run_grading(grade(questions[0], rollout), judge))
    total = next(j for j in judgements if j.measure == "rubric" and j.profile == "corrected")
    assert total.status == "unscored"
    case = questions[0].gold["rubrics"][0]["case_id"]
    assert f"no recorded reply for system nobody, case {case}, item expertise" in total.reason
