"""Replies recorded elsewhere: published judge calls can be replayed, and ours published. Format: docs/models.md.

A line of the file (JSONL, also gzipped) is one of

    {"key": "<digest>", "task": "...", "version": 1, "model": "...", "reply": "..."}           written by RecordingJudge
    {"system": "...", "case_id": "...", "item": "...", "model": "...", "reply": "..."}         ScholarQA-CS rubric replies

The first is found by `Task.identity`; the second by the request's `ref` field: system, case and item.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from vivavoce.errors import ConfigError, DataError
from vivavoce.files import write_records
from vivavoce.judges.base import Judge
from vivavoce.judges.prompts import REFERENCE, Task, load_task
from vivavoce.metrics.verdicts import parse_verdict
from vivavoce.models.chat import ChatModel
from vivavoce.records import JudgeReply, JudgeRequest

OPTIONS = {"path", "on_miss", "systems"}


class Recorded(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """One recorded reply, found by `key`, or by `system`, `case_id` and `item`."""

    reply: str
    key: str = ""
    task: str = ""
    version: int = 0
    model: str = ""
    system: str = ""
    case_id: str = ""
    item: str = ""


class RecordedJudge:
    """Answers from a file of recorded replies; makes no call.

    Options: `path` (the file); `on_miss`: `unscored` (default: the reply's error names what is missing) or `stop` (a DataError
    does); `systems`: names of rollouts' agents or models -> names in the file, where they differ.
    """

    def __init__(
        self,
        model: ChatModel | None = None,
        options: Mapping[str, Any] | None = None,
        *,
        name: str = "recorded",
        versions: Mapping[str, int] | None = None,
    ) -> None:
        options = dict(options or {})
        if "path" not in options or set(options) - OPTIONS:
            raise ConfigError(
                f"judge {name}: options are {', '.join(sorted(options))}; expected path, and maybe on_miss, systems."
            )
        self._name = name
        self._path = Path(options["path"])
        self._stop = options.get("on_miss", "unscored") == "stop"
        self._names = dict(options.get("systems", {}))
        self._versions = dict(versions or {})
        self._replies = load_replies(self._path)
        self._keyed = any(isinstance(key, str) for key in self._replies)
        self._systems = {key[0] for key in self._replies if isinstance(key, tuple)}

    @property
    def name(self) -> str:
        return self._name

    async def ask(self, request: JudgeRequest) -> JudgeReply:
        task = load_task(request.task, self._versions.get(request.task))
        text, missed = None, ""
        if self._keyed:
            key = task.identity(request.fields)
            text = self._replies.get(key)
            missed = f"task {task.name} version {task.version}, key {key[:12]}"
        reference = request.fields.get(REFERENCE)
        if text is None and reference:
            system = self._system(reference)
            text = self._replies.get((system, str(reference["case_id"]), str(reference["item"])))
            missed = f"system {system}, case {reference['case_id']}, item {reference['item']}"
        if text is None:
            missed = missed or f"task {task.name} version {task.version} (the file has none by key)"
            problem = f"no recorded reply for {missed} in {self._path.name}"
            if self._stop:
                raise DataError(f"{problem}. Record it, or set on_miss: unscored for judge {self._name}.")
            return JudgeReply(text="", error=problem)
        verdict = parse_verdict(text, task.verdict)
        return JudgeReply(text=text, verdict=verdict.value, error=verdict.error)

    def _system(self, reference: Mapping[str, Any]) -> str:
        """The name under which the file knows the system: the first of the rollout's names that it has."""
        named = [str(reference[part]) for part in ("system", "model", "agent") if reference.get(part)]
        mapped = [self._names.get(name, name) for name in named]
        return next((name for name in mapped if name in self._systems), mapped[0] if mapped else "")


class RecordingJudge:
    """Passes requests on to a judge and keeps its replies, so that they can be published and replayed."""

    def __init__(self, judge: Judge, versions: Mapping[str, int] | None = None) -> None:
        self._judge = judge
        self._versions = dict(versions or {})
        self._kept: dict[str, Recorded] = {}

    @property
    def name(self) -> str:
        return self._judge.name

    async def ask(self, request: JudgeRequest) -> JudgeReply:
        reply = await self._judge.ask(request)
        if reply.text:
            self.keep(load_task(request.task, self._versions.get(request.task)), request, reply.text)
        return reply

    def keep(self, task: Task, request: JudgeRequest, text: str) -> None:
        """Keep one reply."""
        key = task.identity(request.fields)
        self._kept[key] = Recorded(key=key, task=task.name, version=task.version, model=self.name, reply=text)

    def write(self, path: Path) -> int:
        """Write what was kept, sorted by key; returns how many."""
        return write_records(path, (self._kept[key] for key in sorted(self._kept)))


def load_replies(path: Path) -> dict[str | tuple[str, str, str], str]:
    """All replies of a file by key. DataError names a malformed line, or a key that stands twice with different replies."""
    found: dict[str | tuple[str, str, str], str] = {}
    for number, line in _lines(path):
        try:
            record = msgspec.json.decode(line, type=Recorded)
        except (msgspec.MsgspecError, json.JSONDecodeError) as error:
            raise DataError(f"{path}:{number}: not a recorded reply: {error}. See docs/models.md for the format.") from None
        if not record.key and not (record.case_id and record.item):
            raise DataError(f"{path}:{number}: neither a key nor case_id and item. See docs/models.md for the format.")
        key = record.key or (record.system, record.case_id, record.item)
        if found.setdefault(key, record.reply) != record.reply:
            raise DataError(f"{path}:{number}: {key} stands twice, with different replies. Keep one of them.")
    return found


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
            yield from ((number, line) for number, line in enumerate(stream, 1) if line.strip())
    except OSError as error:
        raise DataError(
            f"{path}: cannot be read ({error.strerror or error}). Option path names a file of recorded replies."
        ) from None
