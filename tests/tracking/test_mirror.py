"""The MLflow mirror: nothing lost when steps log at once, nothing doubled on a rerun, nothing cut silently."""

from __future__ import annotations

import json
import math
import multiprocessing
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vivavoce.files import write_json, write_text
from vivavoce.tracking.mirror import Mirror
from vivavoce.tracking.naming import METRIC_LENGTH, metric_name, metrics, text
from vivavoce.tracking.store import client, initialise

METRICS = 40


def finish_step(folder: Path, number: int) -> None:
    """What a step does at its end: output, then manifest."""
    output = folder / f"s{number}.jsonl"
    write_text(output, "{}\n" * number)
    manifest = {
        "step": "rollout",
        "key": {"benchmark": "b", "seed": f"s{number}"},
        "inputs": {"questions.jsonl": "0" * 64},
        "digest": "d",
        "metrics": {f"m{index}": index + number for index in range(METRICS)},
        "artifacts": [output.name],
    }
    write_json(folder / f"s{number}.jsonl.manifest.json", manifest)


@pytest.fixture
def mirror(tmp_path: Path) -> Mirror:
    frozen = tmp_path / "config.yaml"
    frozen.write_text("name: e\n")
    uri = f"sqlite:///{tmp_path}/mlflow.db"
    initialise(uri, "e")
    return Mirror(uri, "e", tmp_path / "state.json", frozen, megabytes=1)


def test_eight_steps_at_once_lose_nothing(mirror: Mirror, tmp_path: Path) -> None:
    """Eight real processes end their steps together while the mirror follows."""
    steps = [multiprocessing.Process(target=finish_step, args=(tmp_path, number)) for number in range(8)]
    for step in steps:
        step.start()
    manifests = [tmp_path / f"s{number}.jsonl.manifest.json" for number in range(8)]
    mirrored, until = 0, time.monotonic() + 60
    while mirrored < 8 and time.monotonic() < until:
        mirrored += mirror.sync(manifests)
    mirror.close()
    assert mirrored == 8
    store = client(mirror.uri)
    runs = store.search_runs([store.get_experiment_by_name("e").experiment_id])
    assert len(runs) == 9
    parent = next(run for run in runs if run.data.tags["vivavoce.key"] == "experiment/e")
    assert parent.info.status == "FINISHED"
    for number in range(8):
        run = next(run for run in runs if run.data.tags["vivavoce.key"] == f"e: rollout/b/s{number}")
        assert run.data.metrics == {f"m{index}": float(index + number) for index in range(METRICS)}
        assert run.data.tags["mlflow.parentRunId"] == parent.info.run_id
        assert {item.path for item in store.list_artifacts(run.info.run_id)} == {
            f"s{number}.jsonl",
            f"s{number}.jsonl.manifest.json",
        }
        assert run.inputs.dataset_inputs[0].dataset.name == "questions.jsonl"


def test_two_mirrors_at_once_wait_for_each_other(mirror: Mirror, tmp_path: Path) -> None:
    """Two workflows on one store: each mirrors its own experiment, and every run is there."""
    for number in range(4):
        finish_step(tmp_path, number)
    manifests = [tmp_path / f"s{number}.jsonl.manifest.json" for number in range(4)]
    workers = [multiprocessing.Process(target=_sync, args=(mirror.uri, f"e{index}", tmp_path, manifests)) for index in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    store = client(mirror.uri)
    for index in range(3):
        assert len(store.search_runs([store.get_experiment_by_name(f"e{index}").experiment_id])) == 5


def _sync(uri: str, name: str, folder: Path, manifests: list[Path]) -> None:
    Mirror(uri, name, folder / f"{name}.json", folder / "config.yaml", megabytes=1).sync(manifests)


def test_a_changed_step_updates_its_run(mirror: Mirror, tmp_path: Path) -> None:
    finish_step(tmp_path, 1)
    manifest = tmp_path / "s1.jsonl.manifest.json"
    assert [mirror.sync([manifest]), mirror.sync([manifest])] == [1, 0]
    changed = json.loads(manifest.read_text())
    changed["metrics"]["m0"] = 99
    write_json(manifest, changed)
    assert mirror.sync([manifest]) == 1
    store = client(mirror.uri)
    runs = store.search_runs([store.get_experiment_by_name("e").experiment_id], "tags.`vivavoce.key` LIKE '%rollout%'")
    assert [run.data.metrics["m0"] for run in runs] == [99.0]


def test_a_large_artifact_is_named_instead_of_copied(mirror: Mirror, tmp_path: Path) -> None:
    finish_step(tmp_path, 1)
    (tmp_path / "s1.jsonl").write_bytes(b"x" * 2_000_000)
    mirror.sync([tmp_path / "s1.jsonl.manifest.json"])
    store = client(mirror.uri)
    (run,) = store.search_runs([store.get_experiment_by_name("e").experiment_id], "tags.`vivavoce.key` LIKE '%rollout%'")
    assert "sha256" in run.data.tags["vivavoce.not_copied.s1.jsonl"]
    assert [item.path for item in store.list_artifacts(run.info.run_id)] == ["s1.jsonl.manifest.json"]


@given(st.text(max_size=400))
def test_every_name_becomes_one_that_mlflow_takes(name: str) -> None:
    from mlflow.utils.validation import _validate_metric_name

    _validate_metric_name(metric_name(name))
    assert len(metric_name(name)) <= METRIC_LENGTH


def test_what_is_changed_or_left_out_is_told() -> None:
    values, told = metrics({"recall@5": 0.5, "recall_5": 0.25, "loss": math.inf, "cost": None, "plain": 1})
    assert values["plain"] == 1.0
    assert sorted(values.values()) == [0.25, 0.5, 1.0]
    assert told["vivavoce.left_out.loss"] == "inf"
    assert told["vivavoce.left_out.cost"] == "None"
    assert "recall@5" in told.values()
    assert text("x" * 20, 16).startswith("x") and len(text("x" * 20, 16)) == 16
