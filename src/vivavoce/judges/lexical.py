"""A judge without a language model: token overlap, by the `lexical` rule of each task file. It is named so in every table.

Rules (`of` and `in` name fields of the request; a list in `of` is looked at item by item):
  coverage  reached if the share of the content tokens of `of` that occur in `in` is at least `threshold`; of a list, `need`
            items must reach it: `all`, `any`, or the name of a field that holds how many (default: `count`, if there, else all)
  scale     a number between the scale's ends, linear in the overlap; `measure: coverage` (default) or `f1`
  count     how many items of `of` reach the threshold, as the first required field of the JSON verdict (or the number)
  claims    the sentences of `in` as claims with their bracketed or author-year citations and quoted excerpts

`yes` and `no` name the labels, `field` the JSON field, where the task's usual ones do not do.
The reply is written in the form that the prompt asks a model for and is then parsed like any reply.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from vivavoce.errors import ConfigError, DataError
from vivavoce.judges.fill import fill
from vivavoce.judges.llm import is_empty
from vivavoce.judges.prompts import Task, load_task
from vivavoce.metrics.overlap import coverage, f1
from vivavoce.metrics.rubric import body
from vivavoce.metrics.verdicts import parse_verdict
from vivavoce.models.chat import ChatModel
from vivavoce.records import JudgeReply, JudgeRequest

TITLE = "lexical (token overlap, no language model)"


class LexicalJudge:
    """Answers by token overlap; takes no model. Option `threshold` overrides that of every task."""

    def __init__(
        self,
        model: ChatModel | None = None,
        options: Mapping[str, Any] | None = None,
        *,
        name: str = "lexical",
        versions: Mapping[str, int] | None = None,
    ) -> None:
        self._name = name
        self._options = dict(options or {})
        self._versions = dict(versions or {})
        if unknown := set(self._options) - {"threshold"}:
            raise ConfigError(f"judge {name}: unknown option {', '.join(sorted(unknown))}; known: threshold.")

    @property
    def name(self) -> str:
        return self._name

    async def ask(self, request: JudgeRequest) -> JudgeReply:
        task = load_task(request.task, self._versions.get(request.task))
        if is_empty(request.fields.get("answer", "-")):
            return JudgeReply(text="", error="empty answer: nothing was judged")
        text = task.write(decide(task, request.fields, self._options))
        verdict = parse_verdict(text, task.verdict)
        return JudgeReply(text=text, verdict=verdict.value, error=verdict.error)


def decide(task: Task, fields: Mapping[str, Any], options: Mapping[str, Any] | None = None) -> Any:
    """The value that the task's rule gives for `fields`."""
    rule = {**task.lexical, **(options or {})}
    match rule.get("rule"):
        case "coverage":
            return fill(task, float(_reached(task, rule, fields)))
        case "scale":
            return fill(task, _overlap(task, rule, fields))
        case "count":
            return _number(task, rule, sum(_reach(task, rule, fields)))
        case "claims":
            return {"claims": claims(str(_field(task, fields, rule.get("in", "answer"))))}
    raise ConfigError(
        f"judge task {task.name}: lexical rule is {rule.get('rule')!r}; expected coverage, scale, count or claims."
    )


def _field(task: Task, fields: Mapping[str, Any], name: Any) -> Any:
    if name not in fields:
        raise DataError(
            f"judge task {task.name}: its lexical rule reads '{name}', the grader gave {', '.join(sorted(fields))}."
        )
    return fields[name]


def _items(value: Any) -> list[str]:
    return [str(item) for item in value] if isinstance(value, (list, tuple)) else [str(value)]


def _reach(task: Task, rule: Mapping[str, Any], fields: Mapping[str, Any]) -> list[bool]:
    within = "\n".join(_items(_field(task, fields, rule.get("in", "answer"))))
    return [coverage(item, within) >= rule.get("threshold", 0.5) for item in _items(_field(task, fields, rule.get("of")))]


def _reached(task: Task, rule: Mapping[str, Any], fields: Mapping[str, Any]) -> bool:
    reach = _reach(task, rule, fields)
    need = rule.get("need", "count" if isinstance(fields.get("count"), int) else "all")
    if need in ("all", "any"):
        return bool(reach) and (all(reach) if need == "all" else any(reach))
    return sum(reach) >= int(_field(task, fields, need))


def _overlap(task: Task, rule: Mapping[str, Any], fields: Mapping[str, Any]) -> float:
    within = "\n".join(_items(_field(task, fields, rule.get("in", "answer"))))
    measure = f1 if rule.get("measure") == "f1" else coverage
    items = _items(_field(task, fields, rule.get("of")))
    return sum(measure(item, within) for item in items) / max(len(items), 1)


def _number(task: Task, rule: Mapping[str, Any], value: int) -> Any:
    if task.verdict.kind != "json":
        return value
    filled = fill(task, 0.0)
    return {**filled, str(rule.get("field") or task.verdict.schema["required"][0]): value}


_SENTENCE = re.compile(r"(?<=[.!?])[\s]+(?=[A-Z(\[\d\"“])|\n+")
_CITATION = re.compile(r"\[\d+(?:\s*[,;–-]\s*\d+)*\]|\((?:[^()]{0,60}?\b(?:19|20)\d\d[a-z]?)(?:;[^()]{0,200})?\)")
_QUOTE = re.compile(r"[\"“]([^\"“”]{25,}?)[\"”]")


def claims(answer: str) -> list[dict[str, Any]]:
    """The sentences of an answer, without its reference list, with citations; a quotation is an excerpt of the last."""
    found: list[dict[str, Any]] = []
    for sentence in _SENTENCE.split(body(answer)):
        cited = _CITATION.findall(sentence)
        text = " ".join(_CITATION.sub(" ", sentence).split()).strip("-*# ")
        if len(text.split()) < 4:
            if cited and found and not text.strip(" ."):
                found[-1]["citations"] += [{"citation_text": item, "excerpts": []} for item in cited]
            continue
        citations: list[dict[str, Any]] = [{"citation_text": item, "excerpts": []} for item in cited]
        if citations:
            citations[-1]["excerpts"] = _QUOTE.findall(sentence)
        found.append({"claim_text": text, "citations": citations})
    return found
