"""Reads a paper's plain source: Markdown with YAML front matter and fenced `table`, `figure` and `equation` blocks."""

from __future__ import annotations

import re
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

# Which venue is which; all are invented.
VENUES = {
    "ines": "Invented Conference on Neural and Empirical Studies",
    "josm": "Journal of Sample Manuscripts",
    "wims": "Workshop on Imaginary Methods in Science",
}
_FENCE = re.compile(r"^```(table|figure|equation)\n(.*?)^```\n?", re.M | re.S)


@dataclass(frozen=True)
class Block:
    """A piece of the body. `kind`: heading, subheading, paragraph, table, figure or equation."""

    kind: str
    value: Any


@dataclass(frozen=True)
class Source:
    """One paper: its front matter and its body."""

    key: str
    head: dict[str, Any]
    blocks: tuple[Block, ...]

    @property
    def title(self) -> str:
        return str(self.head["title"])

    @property
    def id(self) -> str:
        """The published rule: uuid5(NAMESPACE_DNS, letters and digits of the title + "-" + venue and year)."""
        norm = re.sub(r"[^a-z0-9]", "", self.title.lower())
        return str(uuid.uuid5(uuid.NAMESPACE_DNS, f"{norm}-{self.head['venue']}{self.head['year']}"))

    @property
    def venue_line(self) -> str:
        return f"{VENUES[self.head['venue']]} ({str(self.head['venue']).upper()} {self.head['year']}), {self.head['volume']}"

    @property
    def bibtex(self) -> str:
        kind, field = ("article", "journal") if self.head["venue"] == "josm" else ("inproceedings", "booktitle")
        return (
            f"@{kind}{{{self.key}{self.head['year']},\n  title = {{{self.title}}},\n  author = {{"
            + " and ".join(self.head["authors"])
            + f"}},\n  {field} = {{{VENUES[self.head['venue']]}}},\n  year = {{{self.head['year']}}},\n"
            + "  note = {Invented specimen}\n}"
        )

    def cited_as(self) -> str:
        """The entry under which other specimen papers list this one."""
        return f"{', '.join(self.head['authors'])}. {self.head['year']}. {self.title}. {VENUES[self.head['venue']]}."


def read(path: Path) -> Source:
    """Read `<key>.md`."""
    _, front, body = path.read_text(encoding="utf-8").split("---\n", 2)
    return Source(path.stem, yaml.safe_load(front), tuple(_blocks(body)))


def read_all(folder: Path) -> list[Source]:
    """All papers of a folder, sorted by key."""
    return [read(path) for path in sorted(folder.glob("*.md"))]


def references(source: Source, papers: dict[str, Source]) -> dict[str, str]:
    """The reference list in order: citation key -> entry. A bare key stands for a specimen paper."""
    return {
        key: papers[key].cited_as() if text is None else str(text)
        for item in source.head["references"]
        for key, text in (item.items() if isinstance(item, dict) else [(item, None)])
    }


def _blocks(body: str) -> list[Block]:
    blocks: list[Block] = []
    position = 0
    for match in _FENCE.finditer(body):
        blocks += _prose(body[position : match.start()])
        value = match[2].strip() if match[1] == "equation" else yaml.safe_load(match[2])
        blocks.append(Block(match[1], value))
        position = match.end()
    return blocks + _prose(body[position:])


def _prose(text: str) -> list[Block]:
    blocks = []
    for piece in re.split(r"\n\s*\n", text):
        line = " ".join(piece.split())
        if line.startswith("## "):
            blocks.append(Block("subheading", line[3:]))
        elif line.startswith("# "):
            blocks.append(Block("heading", line[2:]))
        elif line:
            blocks.append(Block("paragraph", line))
    return blocks
