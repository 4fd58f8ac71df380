"""docs/extending.md by itself: its files, put into a copy of the project, do what the page says."""

from __future__ import annotations

import csv
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.workflow
PARTS = ("Snakefile", "conf", "scripts", "src", "envs", "specimen", "recorded")


@pytest.fixture(scope="module")
def added(root: Path, page: list[Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with the files of the page."""
    folder = tmp_path_factory.mktemp("extended")
    for part in PARTS:
        if (root / part).is_dir():
            shutil.copytree(root / part, folder / part, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        elif (root / part).exists():
            shutil.copy(root / part, folder / part)
    for name, text in files(page).items():
        assert not (folder / name).exists(), f"the page overwrites {name}"
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def files(page: list[Any]) -> dict[str, str]:
    """Each file that the page shows; a block marked `more` goes on with it."""
    found: dict[str, str] = {}
    for block in page:
        if name := block.marks.get("file"):
            found[name] = f"{found[name]}\n\n{block.text}" if "more" in block.marks else block.text
    return found


def run(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    """A command of the page, with this interpreter."""
    variables = {"PYTHONPATH": str(folder / "src")}
    words = shlex.split(command)
    while "=" in words[0]:
        name, _, value = words.pop(0).partition("=")
        variables[name] = os.pathsep.join([str(folder / "src"), str(folder / value)])
    program = words.pop(0)
    call = [sys.executable, *([] if program == "python" else ["-m", program]), *words]
    environment = {key: value for key, value in os.environ.items() if key != "VIVAVOCE_STORE"} | variables
    return subprocess.run(call, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False)


def test_the_toy_of_the_page_is_the_toy_of_the_tests(root: Path, page: list[Any]) -> None:
    toy = root / "tests" / "workflow" / "toy"
    shown = files(page)
    same = [path for path in toy.rglob("*") if path.is_file() and str(path.relative_to(toy)) in shown]
    assert len(same) >= 8
    for path in same:
        assert shown[str(path.relative_to(toy))] == path.read_text(encoding="utf-8"), f"extending.md and {path} differ"


def test_every_command_of_the_page_works_in_order(root: Path, added: Path, page: list[Any]) -> None:
    commands = [(command, block) for block in page if "in" in block.marks for command in block.commands()]
    assert len(commands) >= 6
    for command, block in commands:
        ended = run(added, command + (" --dry-run" if "dry" in block.marks else ""))
        assert ended.returncode == 0, f"{block.where}: {command}\n{ended.stdout}\n{ended.stderr}"
    for block in page:
        if name := block.marks.get("output"):
            run(added, "PYTHONPATH=. snakemake --cores 2 --config experiment=toy tracking=none")
            assert (added / name).read_text(encoding="utf-8").rstrip("\n") == block.text.rstrip("\n"), block.where
    with (added / "results/experiments/judge_audit/measures.csv").open(encoding="utf-8", newline="") as stream:
        (cell,) = (
            line
            for line in csv.DictReader(stream)
            if line["measure"] == "judge_balanced_accuracy" and line["slice"] == "all" and line["policy"] == "failures_wrong"
        )
    said = f"It gets {100 * float(cell['value']):.1f} % balanced accuracy"
    assert said in (root / "docs" / "extending.md").read_text(encoding="utf-8")


def test_the_test_of_the_page_can_fail(added: Path) -> None:
    grader = added / "toygrade.py"
    text = grader.read_text()
    try:
        grader.write_text(text.replace("fold=False", "fold=True"))
        assert run(added, "PYTHONPATH=. pytest -q test_toy.py").returncode == 1
    finally:
        grader.write_text(text)


def test_an_unfinished_benchmark_is_told_what_it_lacks(added: Path) -> None:
    path = added / "conf/benchmark/toy.yaml"
    text = path.read_text()
    try:
        path.write_text(text.replace("toybench:read", "toybench:reed"))
        ended = run(added, "PYTHONPATH=. snakemake --cores 1 --config experiment=toy tracking=none --forcerun fetch")
        assert "conf/benchmark/toy.yaml: read: cannot load 'toybench:reed'" in ended.stderr + ended.stdout
    finally:
        path.write_text(text)
