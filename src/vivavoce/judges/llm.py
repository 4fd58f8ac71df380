"""A language model as a judge: render, ask, parse; ask once more with the error shown; else say why there is no verdict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vivavoce.errors import ConfigError, ModelError, RefusedError
from vivavoce.judges.prompts import Task, load_task
from vivavoce.metrics.verdicts import Verdict, VerdictSpec, parse_verdict
from vivavoce.models.chat import ChatModel, ChatReply, ChatRequest, Message
from vivavoce.records import JudgeReply, JudgeRequest, Usage

OPTIONS = {"constrain", "parameters"}
TRUNCATED = "truncated: the reply was cut at the token limit"


class LLMJudge:
    """Any chat model as a judge.

    Options: `parameters` (sampling parameters of judge calls, over the model's own); `constrain` (true: verdicts that are not
    JSON are asked for as `{"verdict": ...}` under a JSON schema, for models too small to keep to a form; the reply's text is
    then the verdict in the prompt's form). `versions` pins task versions. Never raises for one reply; `BudgetError` passes.
    """

    def __init__(
        self,
        model: ChatModel | None,
        options: Mapping[str, Any] | None = None,
        *,
        name: str = "",
        versions: Mapping[str, int] | None = None,
    ) -> None:
        if model is None:
            raise ConfigError(f"judge {name or 'llm'}: no model. Name a file of conf/model as `model`.")
        options = options or {}
        if unknown := set(options) - OPTIONS:
            raise ConfigError(f"judge {name or model.name}: unknown option {', '.join(sorted(unknown))}; known: {OPTIONS}.")
        self._model = model
        self._name = name or model.name
        self._parameters = dict(options.get("parameters", {}))
        self._constrain = bool(options.get("constrain", False))
        self._versions = dict(versions or {})

    @property
    def name(self) -> str:
        return self._name

    async def ask(self, request: JudgeRequest) -> JudgeReply:
        """One verdict, in at most two calls; an empty answer is never sent."""
        task = load_task(request.task, self._versions.get(request.task))
        if is_empty(request.fields.get("answer", "-")):
            return JudgeReply(text="", error="empty answer: nothing was sent to the judge")
        messages = task.render(request.fields)
        constrained = self._constrain and task.verdict.kind not in {"json", "text"}
        spec = verdict_object(task.verdict) if constrained else task.verdict
        if constrained:
            hint = (
                f'\n\nReply with JSON only, whatever form was asked for above: {{"verdict": ...}} with {task.verdict.form()}.'
            )
            messages = (*messages[:-1], Message(role="user", content=messages[-1].content + hint))
        calls: list[str] = []
        usage = Usage()
        text, problem = "", ""
        for _ in range(2):
            try:
                reply = await self._model.chat(self._request(task, request, messages, spec))
            except RefusedError as error:
                return JudgeReply(text=text, error=f"judge refused: {error}", calls=tuple(calls), usage=usage)
            except ModelError as error:
                return JudgeReply(text=text, error=f"judge down: {error}", calls=tuple(calls), usage=usage)
            calls += [reply.key] if reply.key else []
            usage = usage + reply.usage
            text, verdict = reply.text, _read(reply, spec)
            if not verdict.error:
                value = verdict.value["verdict"] if constrained else verdict.value
                said = task.write(value) if constrained else text
                return JudgeReply(text=said, verdict=value, calls=tuple(calls), usage=usage)
            problem = verdict.error
            messages = _again(messages, reply, problem, spec)
        return JudgeReply(text=text, error=problem, calls=tuple(calls), usage=usage)

    def _request(self, task: Task, request: JudgeRequest, messages: tuple[Message, ...], spec: VerdictSpec) -> ChatRequest:
        return ChatRequest(
            messages=messages,
            response_format=spec.schema if spec.kind == "json" else None,
            parameters=self._parameters,
            fields={**request.fields, "judge_task": task.name},
        )


def is_empty(value: Any) -> bool:
    """Whether an answer holds nothing to judge."""
    return value is None or not str(value).strip()


def verdict_object(spec: VerdictSpec) -> VerdictSpec:
    """The JSON object `{"verdict": ...}` for a verdict that is a word or a number."""
    item: dict[str, Any]
    match spec.kind:
        case "boolean":
            item = {"type": "boolean"}
        case "label":
            item = {"type": "string", "enum": list(spec.labels)}
        case _:
            item = {"type": spec.kind, "minimum": spec.low, "maximum": spec.high}
    schema = {"type": "object", "properties": {"verdict": item}, "required": ["verdict"], "additionalProperties": False}
    return VerdictSpec(kind="json", schema=schema)


def _read(reply: ChatReply, spec: VerdictSpec) -> Verdict:
    return Verdict(error=TRUNCATED) if reply.finish_reason == "length" else parse_verdict(reply.text, spec)


def _again(messages: tuple[Message, ...], reply: ChatReply, problem: str, spec: VerdictSpec) -> tuple[Message, ...]:
    said = (Message(role="assistant", content=reply.text),) if reply.text.strip() else ()
    ask = f"That reply cannot be used ({problem}). Give the verdict again, briefly, as {spec.form()}, in the form asked for."
    return (*messages, *said, Message(role="user", content=ask))
