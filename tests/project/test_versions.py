"""One truth for versions: pyproject.toml, the lock and envs/ agree, and the lock is hashed and names no host."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


def locked(root: Path) -> dict[str, str]:
    text = (root / "requirements.lock").read_text()
    return {canonicalize_name(name): version for name, version in re.findall(r"^([\w.-]+)==([^\s;]+)", text, re.MULTILINE)}


def declared(root: Path) -> list[Requirement]:
    project = tomllib.loads((root / "pyproject.toml").read_text())
    return [Requirement(line) for line in (*project["project"]["dependencies"], *project["dependency-groups"]["test"])]


def test_the_lock_satisfies_every_declared_requirement(root: Path) -> None:
    versions = locked(root)
    for requirement in declared(root):
        assert versions[canonicalize_name(requirement.name)] in requirement.specifier, requirement


def test_the_lock_is_hashed_and_names_no_host(root: Path) -> None:
    text = (root / "requirements.lock").read_text()
    pins = re.findall(r"^[\w.-]+==.*(?:\n    .*)*", text, re.MULTILINE)
    assert len(pins) == len(locked(root))
    assert all("--hash=sha256:" in pin for pin in pins)
    assert "://" not in text


def test_every_conda_environment_parses_and_has_the_locks_pins(root: Path) -> None:
    versions = locked(root)
    files = sorted((root / "envs").glob("*.yaml"))
    assert files
    for file in files:
        environment = yaml.safe_load(file.read_text())
        (pip,) = [item["pip"] for item in environment["dependencies"] if isinstance(item, dict)]
        pins = dict(line.split("==") for line in pip)
        assert pins == {name: versions[canonicalize_name(name)] for name in pins}
        project = {canonicalize_name(r.name) for r in declared(root)}
        assert {canonicalize_name(name) for name in pins} <= project


def test_every_rule_names_an_environment_that_exists(root: Path) -> None:
    named = set(re.findall(r'conda:\s+"([^"]+)"', (root / "Snakefile").read_text()))
    assert named
    assert all((root / name).is_file() for name in named)
