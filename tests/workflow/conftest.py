"""A copy of the project in a temporary folder, with a toy benchmark added the way docs/extending.md says."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

PARTS = ("Snakefile", "conf", "scripts", "src", "envs", "specimen", "recorded")


class Project:
    """A copy that can be run and edited."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder, self.environment = folder, environment

    def run(
        self, *config: str, cores: int = 2, flags: tuple[str, ...] = (), **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Run snakemake there; stdout and stderr in one."""
        command = [sys.executable, "-m", "snakemake", "--cores", str(cores), *flags]
        command += ["--config", *config] if config else []
        return subprocess.run(
            command,
            cwd=self.folder,
            env={**self.environment, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
            check=False,
        )

    def rules(self, *config: str) -> dict[str, int]:
        """How many jobs of each rule would run now."""
        text = self.run(*config, flags=("--dry-run", "--quiet", "host")).stdout
        jobs: dict[str, int] = {}
        for line in text.splitlines():
            if line.startswith(("rule ", "localrule ")):
                name = line.split()[1].rstrip(":")
                jobs[name] = jobs.get(name, 0) + 1
        return jobs

    def results(self) -> dict[str, bytes]:
        """Every file under results/experiments, by relative path."""
        top = self.folder / "results" / "experiments"
        return {str(path.relative_to(top)): path.read_bytes() for path in sorted(top.rglob("*")) if path.is_file()}


@pytest.fixture(scope="session")
def _once(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The toy experiment, run once for all tests that start from a finished one."""
    made = _copy(root, tmp_path_factory.mktemp("finished") / "a copy")
    run = made.run("experiment=toy", "tracking=none")
    assert run.returncode == 0, run.stdout
    return made


@pytest.fixture
def finished(_once: Project, tmp_path: Path) -> Project:
    """A project of the test's own that has run the toy experiment."""
    folder = tmp_path / "finished"
    shutil.copytree(_once.folder, folder)
    return _at(folder)


@pytest.fixture
def project(root: Path, tmp_path: Path) -> Callable[[str], Project]:
    """Make a copy of the project under a name (with a space in its path, as people have)."""

    return lambda name="a copy": _copy(root, tmp_path / name)


def _copy(root: Path, folder: Path) -> Project:
    folder.mkdir()
    for part in PARTS:
        source = root / part
        if source.is_dir():
            shutil.copytree(source, folder / part, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        elif source.exists():
            shutil.copy(source, folder / part)
    shutil.copytree(Path(__file__).parent / "toy", folder, dirs_exist_ok=True)
    return _at(folder)


def _at(folder: Path) -> Project:
    environment = {key: value for key, value in os.environ.items() if key != "VIVAVOCE_STORE"}
    environment["PYTHONPATH"] = f"{folder / 'src'}{os.pathsep}{folder}"
    return Project(folder, environment)
