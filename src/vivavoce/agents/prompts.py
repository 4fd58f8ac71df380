"""Loading prompts: versioned Markdown files with a `# system` and a `# user` Jinja2 template (see prompts/*.md).

A name that a template uses and the caller does not give is an error, never an empty place.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from vivavoce.errors import ConfigError
from vivavoce.models.chat import Message

_FOLDER = Path(__file__).with_name("prompts")
_PARTS = re.compile(r"\A---\n(?P<front>.*?)\n---\n\s*# system\n(?P<system>.*?)\n# user\n(?P<user>.*)\Z", re.S)


class Prompt:
    """A prompt and its version; `render` gives the system and the user message."""

    def __init__(self, name: str, version: int, system: Template, user: Template) -> None:
        self.name, self.version, self._system, self._user = name, version, system, user

    def render(self, **values: Any) -> tuple[Message, Message]:
        """The two messages. Raises jinja2.UndefinedError when a value is missing."""
        return (
            Message(role="system", content=_tidy(self._system.render(**values))),
            Message(role="user", content=_tidy(self._user.render(**values))),
        )


@cache
def prompt(name: str) -> Prompt:
    """The prompt of a file in `prompts/`, read once."""
    environment = Environment(  # noqa: S701 - prompts are no HTML
        loader=FileSystemLoader(_FOLDER), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    path = _FOLDER / f"{name}.md"
    try:
        parts = _PARTS.match(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        known = ", ".join(sorted(item.stem for item in _FOLDER.glob("*.md") if not item.stem.startswith("part_")))
        raise ConfigError(f"{path.name}: there is no such prompt; the prompts are {known}") from None
    if parts is None:
        raise ConfigError(f"{path.name}: expected front matter between --- lines, then # system and # user")
    version = int(yaml.safe_load(parts["front"])["version"])
    return Prompt(name, version, environment.from_string(parts["system"]), environment.from_string(parts["user"]))


def _tidy(text: str) -> str:
    """Without outer blanks and with at most one blank line in a row, so that an empty part leaves no hole."""
    return re.sub(r"\n{3,}", "\n\n", text).strip()
