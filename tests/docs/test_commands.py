"""Every command that README and docs print: names, options and targets exist. What a page's own test runs is run there."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from vivavoce.config.compose import compose
from vivavoce.plan import Plan
from vivavoce.workflow import FLAGS, Workflow

# Commands that no check below can judge -> what runs them, or why nothing can.
ELSEWHERE: dict[str, str] = {}


def test_command(root: Path, command: str, block: Any) -> None:
    if command in ELSEWHERE:
        return
    if "in" in block.marks:  # run, in order, by tests/docs/test_extending.py
        assert block.where.startswith("docs/extending.md")
        return
    words = shlex.split(command)
    while words and re.fullmatch(r"[A-Z_]+=\S*", words[0]):
        words.pop(0)
    check = CHECKS.get(words[0])
    assert check, f"{block.where}: '{command}': no check for '{words[0]}'; add one here, or say in ELSEWHERE what runs it"
    check(words[1:], root)


def test_elsewhere_holds_no_command_that_is_gone(root: Path) -> None:
    text = "\n".join(path.read_text() for path in [root / "README.md", *(root / "docs").glob("*.md")])
    assert [command for command in ELSEWHERE if command not in text] == []


@pytest.mark.parametrize(
    "command",
    [
        "snakemake --cores 2 --config experiment=nosuch",
        "snakemake --cores 2 --config model=nosuch",
        "snakemake --coers 2",
        "snakemake --profile profiles/nosuch",
        "make nosuch",
        "python scripts/nosuch.py",
        "python scripts/show.py --nosuch",
        "python -m vivavoce.models explode",
        'pip install ".[nosuch]"',
        "cp conf/model/nosuch.yaml conf/model/mine.yaml",
    ],
)
def test_the_checks_notice_a_mistake(root: Path, command: str) -> None:
    words = shlex.split(command)
    with pytest.raises(BaseException):  # noqa: B017 - each check has its own way
        CHECKS[words[0]](words[1:], root)


def _snakemake(words: list[str], root: Path) -> None:
    from snakemake.cli import get_argument_parser

    if "--profile" in words:
        at = words.index("--profile")
        assert (root / words[at + 1] / "profile.yaml").is_file(), words[at + 1]
        words = words[:at] + words[at + 2 :]
    options = get_argument_parser().parse_args(words)
    choices = dict(item.split("=", 1) for item in options.config or [])
    known = {key: value for key, value in choices.items() if key not in FLAGS}
    known = {key: value for key, value in known.items() if value not in ("NAME", "NAME2")}  # the reader's own
    known = {key: "1" if value in ("K", "N") else value for key, value in known.items()}
    assert Workflow(Plan(compose(root / "conf", known), root)).targets()


def _make(words: list[str], root: Path) -> None:
    words = ["CONFIG=experiment=specimen" if word.startswith("CONFIG=") and "NAME" in word else word for word in words]
    ended = subprocess.run(["make", "--dry-run", *words], cwd=root, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr


def _python(words: list[str], root: Path) -> None:
    target = words[:2] if words[0] == "-m" else [str(root / words[0])]
    text = _help(tuple(target), root)
    rest = words[len(target) :]
    for flag in (word for word in rest if word.startswith("--")):
        assert flag.partition("=")[0] in text, f"{flag} is no option of {' '.join(target)}"
    usage = re.sub(r"\[[^]]*\]", "", text.partition("\n\n")[0])
    if choices := re.search(r"\{([\w,]+)\}", usage):
        assert rest[0] in choices[1].split(","), rest[0]


@cache
def _help(target: tuple[str, ...], root: Path) -> str:
    ended = subprocess.run([sys.executable, *target, "--help"], cwd=root, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def _pip(words: list[str], root: Path) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    for word in words[1:]:
        if match := re.search(r"\[(.*)\]", word):
            assert set(match[1].split(",")) <= set(project["optional-dependencies"]), word


def _copy(words: list[str], root: Path) -> None:
    assert (root / words[0]).is_file(), words[0]


def _folder(words: list[str], root: Path) -> None:
    assert words[0] == "-p"


def _git(words: list[str], root: Path) -> None:
    assert words[0] == "clone"


CHECKS: dict[str, Callable[[list[str], Path], None]] = {
    "snakemake": _snakemake,
    "make": _make,
    "python": _python,
    "pip": _pip,
    "cp": _copy,
    "mkdir": _folder,
    "git": _git,
}
