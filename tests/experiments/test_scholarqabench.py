"""ScholarQABench as experiments: who runs where, what the specimen gives, which published cells cannot be right."""

from __future__ import annotations

import asyncio
import importlib.util
import json
from argparse import Namespace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vivavoce import assets
from vivavoce.agents.base import Seat
from vivavoce.audit.annotators import main as annotators
from vivavoce.config.base import load
from vivavoce.config.compose import compose, freeze
from vivavoce.config.experiment import ExperimentConfig
from vivavoce.config.table import Check, Column, TableConfig
from vivavoce.errors import ConfigError, DataError
from vivavoce.files import write_records
from vivavoce.grading import rubric_annotators
from vivavoce.judges.base import run_grading
from vivavoce.judges.constant import ConstantJudge
from vivavoce.judges.lexical import LexicalJudge
from vivavoce.metrics import consistency_cites as cites
from vivavoce.metrics.agreement import pearson
from vivavoce.metrics.printed import Line, order, whole_counts
from vivavoce.models.extractive import ExtractiveModel
from vivavoce.plan import Plan
from vivavoce.records import Judgement, Question, Rollout
from vivavoce.tables.grid import build

# ---------------------------------------------------------------- who runs where


@pytest.mark.parametrize(
    ("experiment", "prefix", "given_contexts"),
    [
        ("scholarqabench", "specimen_", {"scifact", "pubmedqa", "qasa", "cs", "multi"}),
        ("scholarqabench_real", "", {"scifact", "pubmedqa", "qasa", "scholarqa_multi"}),
    ],
)
def test_constants_run_on_their_own_task_alone(root: Path, experiment: str, prefix: str, given_contexts: set[str]) -> None:
    plan = Plan(compose(root / "conf", {"experiment": experiment}), root)
    where: dict[str, set[str]] = {}
    for job in plan.jobs:
        where.setdefault(job.agent, set()).add(job.benchmark.removeprefix(prefix))
    assert where["always_true"] == {"scifact"}
    assert where["always_yes"] == {"pubmedqa"}
    assert where["given_contexts"] == given_contexts
    assert where.get("human_answers", {"scholarqa_multi"}) == {"scholarqa_multi"}


def test_a_language_model_runs_on_all_real_tasks(root: Path) -> None:
    plan = Plan(compose(root / "conf", {"experiment": "scholarqabench_real", "model": "gpt_4o", "agent": "openscholar"}), root)
    assert {job.benchmark for job in plan.jobs} == set(plan.config.benchmark)


def test_answers_of_ones_own_run_where_there_is_a_file(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("scifact/mine.jsonl", "scholarqa_bio/theirs.json"):
        path = tmp_path / "predictions" / name
        path.parent.mkdir(parents=True)
        path.write_text("", encoding="utf-8")
    plan = Plan(compose(root / "conf", {"experiment": "scholarqabench_real", "agent": "predictions"}), root)
    assert [job.path for job in plan.jobs] == ["scholarqa_bio/predictions/theirs/s0", "scifact/predictions/mine/s0"]


def test_an_edited_check_makes_its_table_again(root: Path) -> None:
    plan = Plan(compose(root / "conf", {"experiment": "scholarqabench_real"}), root)
    _, modules = plan._slices("table", {"table": "scholarqabench_real_aspects"})
    assert "vivavoce.metrics.consistency_cites" in modules


# ---------------------------------------------------------------- the specimen, by direct calls


@cache
def _config(root: Path) -> ExperimentConfig:
    return compose(root / "conf", {"experiment": "scholarqabench"})


def _answered(root: Path, benchmark: str, agent: str) -> tuple[list[Question], list[Rollout]]:
    config = _config(root)
    choice = config.benchmark[benchmark]
    files = {name: root / asset.path for name, asset in choice.assets.items()}
    questions = list(load(choice.read, benchmark)(files, choice.options))
    player = load(config.agent[agent].run, agent)(agent, config.agent[agent].options)
    seat = Seat(model=ExtractiveModel())
    return questions, [asyncio.run(player.answer(question.unseen(), seat)) for question in questions]


def _graded(root: Path, benchmark: str, agent: str) -> dict[tuple[str, str], list[float]]:
    """(measure, profile) -> values of all questions, by the lexical judge."""
    grade = load(f"{_config(root).benchmark[benchmark].grade}:grade", benchmark)
    found: dict[tuple[str, str], list[float]] = {}
    for question, rollout in zip(*_answered(root, benchmark, agent), strict=True):
        for item in asyncio.run(run_grading(grade(question, rollout), LexicalJudge())):
            assert item.status == "scored", item.reason
            if item.value is not None:
                found.setdefault((item.measure, item.profile), []).append(item.value)
    return found


@pytest.mark.parametrize(
    ("benchmark", "measure", "least"),
    [
        ("specimen_scifact", "accuracy", 0.7),
        ("specimen_pubmedqa", "accuracy", 0.8),
        ("specimen_qasa", "rouge_l", 0.15),
        ("specimen_cs", "rubric", 0.4),
        ("specimen_multi", "coverage", 2.5),
    ],
)
def test_passages_help_on_every_task(root: Path, benchmark: str, measure: str, least: float) -> None:
    shown, alone = (_graded(root, benchmark, agent) for agent in ("given_contexts", "no_retrieval"))
    for profile in ("as_published", "corrected"):
        with_passages, without = np.mean(shown[measure, profile]), np.mean(alone[measure, profile])
        assert with_passages >= least
        assert with_passages > without
        assert np.mean(shown["citation_recall", profile]) > 0.4
        assert sum(alone["citation_recall", profile]) == 0, "nothing was shown, so nothing can be cited"


@pytest.mark.parametrize(
    ("benchmark", "agent", "share"), [("scifact", "always_true", 8 / 12), ("pubmedqa", "always_yes", 7 / 12)]
)
def test_majority_class_rows(root: Path, benchmark: str, agent: str, share: float) -> None:
    found = _graded(root, f"specimen_{benchmark}", agent)
    assert np.mean(found["accuracy", "corrected"]) == pytest.approx(share)
    assert sum(found["citation_precision", "corrected"]) == 0


# ---------------------------------------------------------------- cells that cannot be right


def _notes(root: Path, table: str) -> list[str]:
    config = compose(root / "conf", {"experiment": "scholarqabench_real"})
    notes = build(config.table[table], [], {}).notes
    return [note.removeprefix("Cannot be right: ") for note in notes if note.startswith("Cannot")]


def test_published_f1_and_means_are_checked(root: Path) -> None:
    """Spec 4.3: the cells that do not follow from Table 3, and no other."""
    assert _notes(root, "scholarqabench_real_citations") == [
        "OpenScholar-8B, CS F1: 47.9 is printed, P 40.6 and R 44.1 give 42.3.",
        "GPT-4o, CS F1: 0.1 is printed, P 1.0 and R 0.8 give 0.9.",
        "PaperQA2, CS F1: 48.0 is printed, P 45.9 and R 48.0 give 46.9.",
        "PaperQA2, Multi F1: 47.2 is printed, P 53.1 and R 42.2 give 47.0.",
    ]
    assert [note.partition(":")[0] for note in _notes(root, "scholarqabench_real_aspects")] == [
        "GPT-4o, mean",
        "OpenScholar-GPT-4o, mean",
        "PaperQA2, mean",
    ]  # OpenScholar-8B's 4.12 is within rounding of 4.127


SHARE = st.floats(0, 100)


@given(SHARE, SHARE)
def test_what_rounding_allows_is_never_flagged(precision: float, recall: float) -> None:
    f1 = cites.harmonic(precision, recall)
    assert cites.harmonic_fits(round(precision, 1), round(recall, 1), round(f1, 1))
    assert not cites.harmonic_fits(round(precision, 1), round(recall, 1), round(f1, 1) + 0.4)
    assert min(precision, recall) - 1e-9 <= f1 <= max(precision, recall) + 1e-9


@given(st.lists(st.floats(1, 5), min_size=1, max_size=6))
def test_rounded_means_fit(parts: list[float]) -> None:
    mean = sum(parts) / len(parts)
    rounded = [round(part, 2) for part in parts]
    assert cites.mean_fits(rounded, round(mean, 2))
    assert not cites.mean_fits(rounded, mean + 0.03)


def test_harmonic_refuses_what_is_no_share() -> None:
    assert cites.harmonic(0, 0) == 0
    with pytest.raises(ValueError, match="at least 0"):
        cites.harmonic(-1, 2)


def test_checks_leave_our_rows_and_rows_with_gaps_alone() -> None:
    lines = [Line("a", "published", {"P": 50.0, "R": 50.0}), Line("b", "corrected", {"P": 50.0, "R": 50.0, "F1": 10.0})]
    assert cites.f1(lines, precision="P", recall="R", f1="F1") == []
    assert cites.mean(lines, parts=["P", "R"], mean="F1") == []


def test_whole_counts_name_row_and_column() -> None:
    lines = [Line("GPT", "published", {"text": 33.3, "Avg": 50.0}), Line("ours", "corrected", {"text": 33.3})]
    notes = whole_counts(lines, sizes={"text": 2, "Avg": 4}, total="Avg")
    assert notes == ["Cannot be right: GPT, text: no whole count over 2 gives 33.3 %."]
    assert whole_counts(lines, sizes={"text": 3}) == []


def test_order_tells_what_corrections_change() -> None:
    lines = [
        Line("r · a", "as_published", {"score": 2.0}),
        Line("r · a", "corrected", {"score": 1.0}),
        Line("r · b", "as_published", {"score": 1.5}),
        Line("r · b", "corrected", {"score": 1.5}),
    ]
    (note,) = order(lines, columns=["score", "absent"])
    assert note == (
        "Order by score: as published a > b, corrected b > a: the order CHANGES. The corrections change a -1.0, b +0.0."
    )
    assert (
        "the same corrected"
        in order(lines[2:] + [Line("r · c", p, {"score": 0.0}) for p in ("as_published", "corrected")], columns=["score"])[0]
    )


def _table(check: Check, labels: tuple[str, ...] = ("P", "F1")) -> TableConfig:
    columns = [Column(label=label, measure="m") for label in labels]
    return TableConfig(name="t", title="T", benchmarks=["b"], columns=columns, checks=[check])


@pytest.mark.parametrize(
    ("check", "labels", "message"),
    [
        (
            Check(run="vivavoce.metrics.printed:order", options={"column": "P"}),
            ("P",),
            "conf/table/t.yaml: checks: .*order: options",
        ),
        (Check(run="vivavoce.metrics.printed:ordre"), ("P",), "conf/table/t.yaml: checks: cannot load"),
        (Check(run="vivavoce.metrics.printed:order", options={"columns": ["P"]}), ("P", "P"), "stand twice: P"),
    ],
)
def test_a_wrong_check_names_its_file(check: Check, labels: tuple[str, ...], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        build(_table(check, labels), [], {})


# ---------------------------------------------------------------- annotators


def _rubric(case: str, criteria: list[str]) -> dict[str, Any]:
    general = {"length_weight": 0.05, "expertise_weight": 0.05, "citations_weight": 0.2, "excerpts_weight": 0.1}
    items = [
        {"name": f"most_important_item_{i}", "criterion": text, "weight": 0.6 / len(criteria), "evidence": []}
        for i, text in enumerate(criteria)
    ]
    config = {"question": "What does moss need?", "low_length": 300, "high_length": 600, **general, "other_properties": items}
    return {"case_id": case, "annotator": case, "agreement": True, "config": config}


def _annotated(identity: str, *rubrics: dict[str, Any], **gold: Any) -> tuple[Question, Rollout]:
    question = Question(
        id=identity,
        benchmark="cs",
        task="long_form",
        text="What does moss need?",
        gold={"rubrics": list(rubrics), "evidence": False} | gold,
    )
    return question, Rollout(
        question_id=identity, agent="a", model="m", seed=0, outcome="answered", answer="Moss needs shade and water."
    )


def _by_annotators(judge: Any, question: Question, rollout: Rollout) -> dict[str, Judgement]:
    return {item.measure: item for item in asyncio.run(run_grading(rubric_annotators.grade(question, rollout), judge))}


def test_both_annotators_score_the_same_answer() -> None:
    one, two = _rubric("one", ["Moss needs shade."]), _rubric("two", ["Volcanoes erupt on islands."])
    found = _by_annotators(LexicalJudge(), *_annotated("q", one, two))
    first, second = (found[f"annotators_items_{part}"].value for part in ("first", "second"))
    assert first is not None and second is not None
    assert first > second
    assert found["annotators_items_gap"].value == pytest.approx(first - second)
    assert found["annotators_items_product"].value == pytest.approx(first * second)
    assert _by_annotators(LexicalJudge(), *_annotated("q", one)) == {}, "one rubric: nothing to compare"
    with pytest.raises(DataError, match="annotators is not mean"):
        _by_annotators(LexicalJudge(), *_annotated("q", one, two, annotators="first"))


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=3, max_size=10))
def test_correlation_from_moments_is_pearsons(pairs: list[tuple[float, float]]) -> None:
    x, y = np.array(pairs).T
    if min(x.var(), y.var()) < 1e-4:
        return
    columns = dict(zip(rubric_annotators.PARTS, (x, y, abs(x - y), x * y, x * x, y * y), strict=True))
    means = {f"annotators_items_{part}": np.asarray(column.mean()) for part, column in columns.items()}
    (spec,) = [item for item in rubric_annotators.MEASURES if item.name == "annotators_items_pearson"]
    assert float(spec.combine(means)) == pytest.approx(pearson(list(x), list(y)), abs=1e-6)  # type: ignore[union-attr]


def test_agreement_report_over_systems(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, two = _rubric("one", ["Moss needs shade."]), _rubric("two", ["Moss needs water."])
    paths = []
    for system, judge in (
        ("a", LexicalJudge()),
        ("b", ConstantJudge(None, {"say": "no"})),
        ("c", ConstantJudge(None, {"say": "yes"})),
    ):
        judgements = [item for q in "xyz" for item in _by_annotators(judge, *_annotated(q, one, two)).values()]
        write_records(tmp_path / f"{system}.jsonl", judgements)
        paths.append(str(tmp_path / f"{system}.jsonl"))
    assert annotators(paths) == 0
    text = capsys.readouterr().out
    assert "| with general criteria | 3 | 1.000" in text
    assert annotators(paths[:1]) == 1
    assert "at least two systems" in capsys.readouterr().err


# ---------------------------------------------------------------- a file that is not there


def _fetch(root: Path) -> Any:
    spec = importlib.util.spec_from_file_location("fetch", root / "scripts/fetch.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_qasa_without_its_file_has_no_questions_and_says_why(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def offline(url: str, part: Path, size: int | None) -> None:
        raise OSError("no network")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(assets, "_stream", offline)
    monkeypatch.setattr(assets.time, "sleep", lambda seconds: None)
    monkeypatch.setenv("VIVAVOCE_MIRROR", str(tmp_path))
    freeze(compose(root / "conf", {"experiment": "scholarqabench_real"}), tmp_path / "config.yaml")
    output = tmp_path / "results/data/qasa/questions.jsonl"
    _fetch(root).main(Namespace(config=tmp_path / "config.yaml", benchmark="qasa", output=output, digest="x"))
    assert output.read_text(encoding="utf-8") == ""
    manifest = json.loads(output.with_name("questions.jsonl.manifest.json").read_text(encoding="utf-8"))
    assert "no network" in manifest["absent"]["questions"]
    assert "qasa_test.jsonl" in manifest["absent"]["questions"]
