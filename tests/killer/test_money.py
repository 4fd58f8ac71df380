"""Failures that heal, budgets, a shipped store, and a key that must not leak."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.workflow
ONE = ("agent=question_only",)  # twelve questions, a call each; the judge the same


def outcomes(project: Any) -> dict[str, str]:
    """How each question of the one-call agent ended."""
    path = project.folder / "results/rollouts/exam/question_only/scripted/s0.jsonl"
    return {line["question_id"]: line["outcome"] for line in map(json.loads, path.read_text().splitlines())}


def test_retry_errors_asks_only_those(project: Any, examiner: Any) -> None:
    """Two of twelve fail for good, which error_share allows; healed, four calls are made."""
    examiner.failing = re.compile(r"\[q0[37]\]")
    code, said = project.run(*ONE)
    assert code == 0, said
    assert [name for name, outcome in outcomes(project).items() if outcome == "error"] == ["q03", "q07"]
    assert "2 question(s) ended in an error" in said
    assert "--config retry=errors" in said
    before = project.results()["exam/tables/exam.md"].decode()
    assert "2 error" in before
    assert examiner.turned_away == 4, "each was tried twice"
    stored = project.stored()

    examiner.failing = None
    examiner.server.asked.clear()
    code, said = project.run(*ONE, "retry=errors")
    assert code == 0, said
    assert set(outcomes(project).values()) == {"answered"}
    assert sum(examiner.asked().values()) == 4, "two answers and their two verdicts"
    assert not stored & set(examiner.asked())
    after = project.results()["exam/tables/exam.md"].decode()
    assert "error" not in after
    assert after != before
    assert project.run(*ONE, "retry=errors")[0] == 0
    assert sum(examiner.asked().values()) == 4, "nothing is left to retry"


def test_a_failing_judge_is_retried_too(project: Any, examiner: Any) -> None:
    examiner.failing = re.compile(r"\[q0[37]\].*Candidate's answer")
    code, said = project.run(*ONE)
    assert code == 0, said
    assert re.search(r"gave no reply for 2 question\(s\) \(q0[37]: judge down: scripted_judge: the server said 500", said)
    assert "2 unscored" in project.results()["exam/tables/exam.md"].decode()

    examiner.failing = None
    examiner.server.asked.clear()
    code, said = project.run(*ONE, "retry=errors")
    assert code == 0, said
    assert sum(examiner.asked().values()) == 2
    assert "unscored" not in project.results()["exam/tables/exam.md"].decode()


def test_above_the_share_a_rollout_fails_and_goes_on_later(stage: Callable[[str], Any], examiner: Any) -> None:
    step = stage("rollout")
    examiner.failing = re.compile(r"\[q0[0-5]\]")
    code, said = step.run()
    assert code == 1
    assert "6 of 12 questions ended in an error, more than error_share=0.25 allows" in said
    assert re.search(r"First: q0[0-5]: scripted: the server said 500", said)
    assert "run the same command and only the rest is asked" in said
    assert "Traceback" not in said
    assert not step.output.exists()
    assert len(step.stored()) == 12, "two calls for each of the others"
    goes_on(step, examiner)


def test_above_the_share_a_judge_fails_and_goes_on_later(stage: Callable[[str], Any], examiner: Any) -> None:
    step = stage("judge")
    examiner.failing = re.compile(r"\[q0[0-5]\]")
    code, said = step.run()
    assert code == 1
    assert "the judge gave no reply for 6 of 12 questions, more than error_share=0.25 allows" in said
    assert re.search(r"First: q0[0-5]: judge down: scripted_judge: the server said 500", said)
    assert "run the same command and only the rest is asked" in said
    assert not step.output.exists()
    assert len(step.stored()) == 6
    goes_on(step, examiner)


def goes_on(step: Any, examiner: Any) -> None:
    """The server heals: the step asks only what is missing, and ends as if nothing had happened."""
    kept = step.stored()
    examiner.failing = None
    examiner.server.asked.clear()
    code, said = step.run()
    assert code == 0, said
    assert not kept & set(examiner.asked())
    assert set(examiner.asked().values()) == {1}
    assert step.lines() == step.expected()


def test_a_budget_stops_the_run_and_raising_it_goes_on(stage: Callable[[str], Any], examiner: Any) -> None:
    step = stage("rollout")
    config = step.folder / "results/experiments/exam/config.yaml"
    text = config.read_text()
    for calls in (7, 15):
        config.write_text(text.replace("budget_calls: null", f"budget_calls: {calls}"))
        code, said = step.run()
        assert code == 1
        assert f"The next call could pass the budget of {calls} calls" in said
        assert "raise budget_usd or budget_calls and run again" in said
        assert "Traceback" not in said
        assert not step.output.exists()
        assert examiner.requests == calls == len(step.stored()), "not passed, and all that was paid for is kept"
    config.write_text(text.replace("budget_calls: null", "budget_calls: 24"))
    code, said = step.run()
    assert code == 0, said
    assert set(examiner.asked().values()) == {1}
    assert examiner.requests == 24
    assert step.lines() == step.expected()


def test_a_budget_of_the_whole_experiment(project: Any, examiner: Any) -> None:
    """Jobs share one ledger: 12 calls of the rollout and three of the judge, and then it ends."""
    code, said = project.run(*ONE, "budget_calls=15")
    assert code != 0
    assert "The next call could pass the budget of 15 calls" in said
    assert set(outcomes(project).values()) == {"answered"}, "the first step is done"
    assert examiner.calls == {"rollout": 12, "judge": 3}


def test_a_shipped_store_regenerates_the_tables(reference: Any, project: Any, examiner: Any, tmp_path: Path) -> None:
    """With the server down and no key: from the store alone. A call that is missing is named by its question."""
    shipped = tmp_path / "shipped"
    shutil.copytree(reference.folder / ".vivavoce/calls", shipped)
    for path in shipped.rglob("*"):
        assert path.suffix in ("", ".sqlite", ".lock"), "closed stores have no log beside them"
    del project.environment["EXAM_KEY"]
    examiner.down()
    try:
        code, said = project.run("offline=1", VIVAVOCE_STORE=str(shipped))
        assert code == 0, said
        tables = {name: text for name, text in project.results().items() if "/tables/exam." in name and "manifest" not in name}
        assert len(tables) == 3
        assert {name: reference.results()[name] for name in tables} == tables
        assert project.results()["exam/measures.csv"] == reference.results()["exam/measures.csv"]
        assert not (project.folder / ".vivavoce").exists()

        (project.folder / "data/exam.jsonl").write_text(
            (project.folder / "data/exam.jsonl").read_text().replace("tern", "gull")
        )
        digest = hashlib.sha256((project.folder / "data/exam.jsonl").read_bytes()).hexdigest()
        conf = project.folder / "conf/benchmark/exam.yaml"
        conf.write_text(re.sub(r"sha256: \w+", f"sha256: {digest}", conf.read_text()))
        strict = project.folder / "conf/experiment/exam.yaml"
        strict.write_text(strict.read_text().replace("error_share: 0.25", "error_share: 0"))
        code, said = project.run("offline=1", VIVAVOCE_STORE=str(shipped))
        assert code != 0
        assert "q03: scripted: offline, and the call for question q03 is in no store" in said
        assert "Traceback" not in said
    finally:
        examiner.up()
    assert examiner.requests == 0


def test_a_key_is_nowhere(project: Any, examiner: Any) -> None:
    """With MLflow on, and a server that echoes the key in its errors: in no file of the run, and in nothing that it says."""
    key = project.environment["EXAM_KEY"].encode()
    data = project.folder / "data/exam.jsonl"
    data.write_text(data.read_text().replace("of the tern", "of the [[script:echo-key]]"))
    conf = project.folder / "conf/benchmark/exam.yaml"
    conf.write_text(re.sub(r"sha256: \w+", f"sha256: {hashlib.sha256(data.read_bytes()).hexdigest()}", conf.read_text()))
    code, said = project.run(tracking="mlflow")
    assert code == 0, said
    assert any(f"Bearer {key.decode()}" == headers["Authorization"] for headers in examiner.server.headers), "it was sent"
    assert "Incorrect API key provided: Bearer ***" in said, "and the echo is struck out"
    files = [path for path in project.folder.rglob("*") if path.is_file()]
    names = {path.name for path in files}
    assert {"said.txt", "mlflow.db", "s0.sqlite", "exam.md", "config.yaml"} <= names
    assert [path for path in files if ".snakemake" in path.parts]
    assert [path for path in files if key in path.read_bytes()] == []
