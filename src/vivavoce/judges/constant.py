"""Judges that always say the same, and one that says nothing: floors and ceilings of a benchmark, grading without a judge."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vivavoce.errors import ConfigError
from vivavoce.judges.fill import fill
from vivavoce.judges.prompts import load_task
from vivavoce.metrics.verdicts import parse_verdict
from vivavoce.models.chat import ChatModel
from vivavoce.records import JudgeReply, JudgeRequest


class ConstantJudge:
    """Gives each request the best verdict (option `say: yes`) or the worst (`say: no`) that its form allows.

    Best is True, the first label, the highest number; the reply goes through the parser like any other.
    """

    def __init__(
        self,
        model: ChatModel | None = None,
        options: Mapping[str, Any] | None = None,
        *,
        name: str = "",
        versions: Mapping[str, int] | None = None,
    ) -> None:
        say = (options or {}).get("say", "yes")
        if say not in {"yes", "no", True, False}:  # YAML 1.1 reads a bare yes as true
            raise ConfigError(f"judge {name}: option say is {say!r}; expected yes or no.")
        self._share = 1.0 if say in {"yes", True} else 0.0
        self._name = name or f"constant_{'yes' if self._share else 'no'}"
        self._versions = dict(versions or {})

    @property
    def name(self) -> str:
        return self._name

    async def ask(self, request: JudgeRequest) -> JudgeReply:
        task = load_task(request.task, self._versions.get(request.task))
        text = task.write(fill(task, self._share))
        verdict = parse_verdict(text, task.verdict)
        return JudgeReply(text=text, verdict=verdict.value, error=verdict.error)


class NoJudge:
    """Leaves everything unscored that would need a judge."""

    def __init__(
        self,
        model: ChatModel | None = None,
        options: Mapping[str, Any] | None = None,
        *,
        name: str = "none",
        versions: Mapping[str, int] | None = None,
    ) -> None:
        self._name = name

    @property
    def name(self) -> str:
        return self._name

    async def ask(self, request: JudgeRequest) -> JudgeReply:
        return JudgeReply(text="", error="no judge is configured (judge=none)")
