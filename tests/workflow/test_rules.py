"""The design's rules, shown on a toy benchmark that is added without editing a file of the project."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.workflow
TOY = ("experiment=toy", "tracking=none")
Make = Callable[..., Any]


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_a_benchmark_is_added_by_a_module_and_yaml_files(finished: Any) -> None:
    table = finished.results()["toy/tables/toy.md"].decode()
    assert "parrot" in table
    assert "1 invalid" in table


def test_the_same_bytes_elsewhere_and_with_other_cores(finished: Any, project: Make) -> None:
    other = project("elsewhere")
    assert other.run(*TOY, cores=1).returncode == 0
    assert other.results() == finished.results()


def test_nothing_runs_twice(finished: Any) -> None:
    assert finished.rules(*TOY) == {}


def test_an_edited_scorer_reruns_judging_and_below(finished: Any) -> None:
    edit(finished.folder / "toymetric.py", "answer == word", "answer.strip() == word")
    assert finished.rules(*TOY) == {"judge": 2, "aggregate": 1, "table": 1, "all": 1}


def test_edited_prose_reruns_nothing(finished: Any) -> None:
    edit(finished.folder / "toymetric.py", "Whether the answer is the word.", "True if the answer is the word.")
    edit(finished.folder / "src/vivavoce/records.py", "One question.", "A question.  # said otherwise\n    ")
    assert finished.rules(*TOY) == {}


def test_reordered_configuration_reruns_nothing(finished: Any) -> None:
    path = finished.folder / "conf/benchmark/toy.yaml"
    head, *lines = path.read_text().splitlines()
    blocks = [line for line in lines if not line.startswith((" ", "assets"))]
    assets = [line for line in lines if line.startswith((" ", "assets"))]
    path.write_text("\n".join([head, *assets, *reversed(blocks)]) + "\n")
    assert finished.rules(*TOY) == {}


def test_an_edited_agent_option_reruns_its_rollouts_alone(finished: Any) -> None:
    edit(finished.folder / "conf/agent/shy.yaml", "true}", "false}")
    assert finished.rules(*TOY) == {"rollout": 1, "judge": 1, "aggregate": 1, "table": 1, "all": 1}


def test_two_experiments_share_their_rollouts(finished: Any) -> None:
    assert finished.rules("experiment=toy_again", "tracking=none") == {"aggregate": 1, "table": 1, "all": 1}


def test_each_output_says_what_made_it(finished: Any) -> None:
    manifest = json.loads((finished.folder / "results/judgements/toy/shy/none/s0/none.jsonl.manifest.json").read_text())
    assert set(manifest["inputs"]) == {"questions.jsonl", "rollouts.jsonl"}
    assert manifest["digest"]
    assert manifest["versions"]["numpy"]
    text = "".join(content.decode(errors="replace") for content in finished.results().values())
    assert str(finished.folder) not in text, "results hold no absolute path"


def test_limit_and_names_are_overrides(finished: Any) -> None:
    assert finished.run(*TOY, "limit=2", "agent=parrot").returncode == 0
    rollouts = finished.folder / "results/rollouts/toy/parrot/none/s0.jsonl"
    assert len(rollouts.read_text().splitlines()) == 2
    assert "shy" not in finished.results()["toy/tables/toy.md"].decode()


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (("experiment=toyy",), "unknown experiment 'toyy'. Known:"),
        (("experiment=toy", "agent=parot"), "unknown agent 'parot'. Known:"),
        (("experiment=toy", "limit=many"), "expected a whole number"),
        (("experiment=toy", "prompt=hello"), "unknown key. Known:"),
        (("experiment=toy", "retry=all"), "expected retry=errors"),
    ],
)
def test_a_wrong_override_is_one_message(project: Make, config: tuple[str, ...], message: str) -> None:
    run = project().run(*config)
    assert run.returncode != 0
    assert message in run.stdout
    assert "Traceback" not in run.stdout


def test_a_wrong_key_in_a_file_is_named(project: Make) -> None:
    made = project()
    with (made.folder / "conf/benchmark/toy.yaml").open("a") as stream:
        stream.write("titel: Toy\n")
    run = made.run(*TOY)
    assert "conf/benchmark/toy.yaml: titel: no such key is known here" in run.stdout


def test_changed_data_is_refused(project: Make) -> None:
    made = project()
    edit(made.folder / "data/words.jsonl", "apple", "apples")
    run = made.run(*TOY)
    assert run.returncode != 0
    assert "asset 'questions'" in run.stdout
    assert "expected" in run.stdout


def test_tracking_changes_no_result_and_is_repeatable(project: Make, finished: Any) -> None:
    """One parent run, one child a step; a second mirror of the same steps adds none."""
    from mlflow import MlflowClient

    tracked = project("tracked")
    assert tracked.run("experiment=toy").returncode == 0
    same = {name: text for name, text in finished.results().items() if not name.endswith("config.yaml")}
    assert {name: text for name, text in tracked.results().items() if not name.endswith("config.yaml")} == same

    def runs() -> dict[str, str]:
        client = MlflowClient(f"sqlite:///{tracked.folder}/results/mlflow.db")
        found = client.search_runs([e.experiment_id for e in client.search_experiments() if e.name == "toy"])
        return {run.data.tags["vivavoce.key"]: run.info.run_id for run in found}

    first = runs()
    steps = ["aggregate/toy", "fetch/toy", "table/toy"]
    for agent in ("parrot", "shy"):
        steps += [f"rollout/{agent}/toy/none/s0", f"judge/{agent}/toy/none/none/s0"]
    assert sorted(first) == sorted(["experiment/toy", *(f"toy: {step}" for step in steps)])
    (tracked.folder / "results/tracking/toy.json").unlink()
    assert tracked.run("experiment=toy").returncode == 0
    assert runs() == first


def test_a_second_workflow_in_the_folder_is_told_so(finished: Any) -> None:
    lock = finished.folder / ".snakemake/locks"
    lock.mkdir(exist_ok=True)
    for kind in ("input", "output"):
        shutil.copy(finished.folder / "Snakefile", lock / f"0.{kind}.lock")
        (lock / f"0.{kind}.lock").write_text("results/data/toy/questions.jsonl\n")
    run = finished.run(*TOY, flags=("--forceall",))
    assert run.returncode != 0
    assert "Directory cannot be locked" in run.stdout


def test_a_second_configuration_does_not_slip_under_a_running_workflow(finished: Any) -> None:
    lock = finished.folder / ".snakemake/locks"
    lock.mkdir(exist_ok=True)
    (lock / "0.output.lock").write_text("results/data/toy/questions.jsonl\n")
    frozen = (finished.folder / "results/experiments/toy/config.yaml").read_bytes()
    run = finished.run(*TOY, "limit=2")
    assert run.returncode != 0
    assert "another workflow runs in this folder" in run.stdout
    assert (finished.folder / "results/experiments/toy/config.yaml").read_bytes() == frozen
