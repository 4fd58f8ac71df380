"""The documents, and their fenced blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

FENCE = re.compile(r"^(?P<fence>```+|~~~+)(?P<info>[^\n`]*)\n(?P<text>.*?)^(?P=fence)[ \t]*$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """A fenced block: its language, the words after it (`file=x` or a flag), its text, and where it stands."""

    where: str
    language: str
    marks: dict[str, str]
    text: str

    def commands(self) -> list[str]:
        """The commands of a shell block: without comments and prompts, continued lines joined."""
        lines = self.text.replace("\\\n", " ").splitlines()
        bare = (re.sub(r"(^|\s)#.*", "", line.removeprefix("$ ")).strip() for line in lines)
        return [" ".join(line.split()) for line in bare if line]


def documents(root: Path) -> list[Path]:
    return [root / "README.md", root / "CHANGELOG.md", root / "results" / "README.md", *sorted((root / "docs").glob("*.md"))]


def blocks(path: Path, root: Path) -> Iterator[Block]:
    text = path.read_text(encoding="utf-8")
    for match in FENCE.finditer(text):
        language, *words = match["info"].split() or [""]
        marks = {word.partition("=")[0]: word.partition("=")[2] for word in words}
        line = text.count("\n", 0, match.start()) + 1
        yield Block(f"{path.relative_to(root)}:{line}", language, marks, match["text"])


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """`document`, `command` and `yaml_block` run over all there are."""
    root = Path(__file__).resolve().parents[2]
    found = [block for path in documents(root) for block in blocks(path, root)]
    if "document" in metafunc.fixturenames:
        metafunc.parametrize("document", documents(root), ids=lambda path: str(path.relative_to(root)))
    if {"command", "block"} <= set(metafunc.fixturenames):
        shell = {
            command: block for block in found if block.language in ("bash", "console", "sh") for command in block.commands()
        }
        metafunc.parametrize(("command", "block"), shell.items(), ids=list(shell))
    if "yaml_block" in metafunc.fixturenames:
        chosen = [block for block in found if block.language == "yaml"]
        metafunc.parametrize("yaml_block", chosen, ids=[block.where for block in chosen])


@pytest.fixture(scope="session")
def page(root: Path) -> list[Block]:
    """The blocks of docs/extending.md."""
    return list(blocks(root / "docs" / "extending.md", root))
