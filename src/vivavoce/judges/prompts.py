"""Judge tasks: one Markdown file each, with the verdict's form, the offline rule and the prompt, under a version.

    ---
    version: 1
    verdict: {kind: boolean}      # see metrics.verdicts.VerdictSpec
    lexical: {rule: coverage, of: reference, in: answer, threshold: 0.5}   # how the offline judge decides (judges.lexical)
    form: "[RESULT] {value}"      # optional: how the prompt asks for the verdict, where that is not the kind's usual form
    ---
    # system
    ... Jinja2 ...
    # user
    ... {{ question }} ...

`tasks/<name>.md` is the current version; an older one that is still wanted stands beside it as `tasks/<name>.v<version>.md`.
A file elsewhere is named by its path, ending in `.md`.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jinja2
import msgspec
import yaml

from vivavoce.errors import ConfigError, DataError
from vivavoce.files import digest
from vivavoce.metrics.verdicts import VerdictSpec
from vivavoce.models.chat import Message

FOLDER = Path(__file__).parent / "tasks"
REFERENCE = "ref"  # the field by which imported replies are found; never shown to a judge, no part of a request's identity
_PARTS = re.compile(r"\A---\n(?P<front>.*?)\n---\n(?:# system\n(?P<system>.*?)\n)?# user\n(?P<user>.*)\Z", re.DOTALL)
_JINJA = jinja2.Environment(undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False)  # noqa: S701 - plain text, not HTML


class Front(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The front matter of a task file."""

    version: int
    verdict: VerdictSpec
    lexical: dict[str, Any] = {}
    form: str = ""


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """A judge task, ready to be rendered."""

    name: str
    version: int
    verdict: VerdictSpec
    lexical: dict[str, Any]
    form: str
    system: str
    user: str

    def render(self, fields: Mapping[str, Any]) -> tuple[Message, ...]:
        """The messages for `fields`; a field that the prompt needs and the grader does not give is a DataError."""
        shown = {name: value for name, value in fields.items() if name != REFERENCE}
        try:
            texts = {
                role: _JINJA.from_string(text).render(shown) for role, text in (("system", self.system), ("user", self.user))
            }
        except jinja2.UndefinedError as error:
            raise DataError(f"judge task {self.name}: {error.message}; the grader gave {', '.join(sorted(shown))}.") from None
        messages = [Message(role="user", content=texts["user"].strip())]
        if texts["system"].strip():
            messages.insert(0, Message(role="system", content=texts["system"].strip()))
        return tuple(messages)

    def write(self, value: Any) -> str:
        """A reply that says `value` in the form that the prompt asks for, so that published parsing rules can read it too."""
        if self.form:
            return self.form.replace("{value}", str(value))
        match self.verdict.kind:
            case "boolean":
                return f"```txt\n{bool(value)}\n```"
            case "integer" | "number":
                return f"Score: {value}"
            case "json":
                return json.dumps(value, ensure_ascii=False)
        return str(value)

    def identity(self, fields: Mapping[str, Any]) -> str:
        """The key of a request in a file of recorded replies: a digest of task, version and the fields that are shown."""
        shown = {name: value for name, value in fields.items() if name != REFERENCE}
        return digest({"task": self.name, "version": self.version, "fields": shown})


@functools.cache
def load_task(name: str, version: int | None = None, folder: Path = FOLDER) -> Task:
    """Load the task `name` (or the file, if it ends in `.md`) in the version asked for, the current one if None.

    Raises ConfigError if there is no such task or version, or if its file is malformed.
    """
    path = Path(name) if name.endswith(".md") else folder / f"{name}.md"
    if not path.is_file():
        known = sorted(file.stem for file in folder.glob("*.md") if "." not in file.stem)
        raise ConfigError(f"{path}: no such judge task. Known tasks: {', '.join(known)}.")
    task = _parse(path, name)
    if version in (None, task.version):
        return task
    older = path.with_suffix(f".v{version}.md")
    if older.is_file() and (task := _parse(older, name)).version == version:
        return task
    raise ConfigError(
        f"judge task {name}: version {version} is asked for, {path} is version {_parse(path, name).version} and there is no "
        f"{older.name}. Pin the version that exists, or put the older prompt beside it."
    )


def _parse(path: Path, name: str) -> Task:
    parts = _PARTS.match(path.read_text(encoding="utf-8"))
    if not parts:
        raise ConfigError(f"{path}: expected front matter between --- lines, then '# system' (optional) and '# user'.")
    try:
        raw = yaml.safe_load(parts["front"])
        if isinstance(raw, dict) and isinstance(raw.get("lexical"), dict):  # YAML 1.1 reads the keys yes and no as booleans
            raw["lexical"] = {{True: "yes", False: "no"}.get(key, key): value for key, value in raw["lexical"].items()}
        front = msgspec.convert(raw, Front)
    except (msgspec.ValidationError, yaml.YAMLError) as error:
        raise ConfigError(f"{path}: front matter: {error}. Expected version, verdict and lexical.") from None
    try:
        for text in (parts["system"] or "", parts["user"]):
            _JINJA.parse(text)
    except jinja2.TemplateSyntaxError as error:
        raise ConfigError(f"{path}: {error.message} (line {error.lineno} of its part).") from None
    return Task(
        name=name,
        version=front.version,
        verdict=front.verdict,
        lexical=front.lexical,
        form=front.form,
        system=parts["system"] or "",
        user=parts["user"],
    )
