"""A verdict of the form that a task asks for, from a share in [0, 1]: what judges without a language model say."""

from __future__ import annotations

from typing import Any

from vivavoce.judges.prompts import Task


def fill(task: Task, share: float) -> Any:
    """0 is the worst verdict and 1 the best: True from 0.5 on, the first label for 1 and the last for 0, linear on a scale.

    JSON objects are filled by their schema: numbers along their scale, booleans and enumerations likewise, lists empty.
    """
    verdict, rule = task.verdict, task.lexical
    match verdict.kind:
        case "boolean":
            return share >= 0.5
        case "label":
            worst, best = rule.get("no", verdict.labels[-1]), rule.get("yes", verdict.labels[0])
            return best if share >= 0.5 else worst
        case "integer":
            return round(verdict.low + (verdict.high - verdict.low) * share)
        case "number":
            return round(verdict.low + (verdict.high - verdict.low) * share, 2)
        case "json":
            return by_schema(verdict.schema, share)
        case "text":
            low, high = rule.get("low", 1), rule.get("high", 10)
            return round(low + (high - low) * share)


def by_schema(schema: dict[str, Any], share: float, note: str = "no language model") -> Any:
    """A value that fits `schema`, as good as `share` says."""
    if choices := schema.get("enum"):
        ordered = _from_worst(choices)
        return ordered[round((len(ordered) - 1) * share)]
    match schema.get("type"):
        case "object":
            properties = schema.get("properties", {})
            return {name: by_schema(properties.get(name, {}), share, note) for name in schema.get("required", properties)}
        case "array":
            return []
        case "boolean":
            return share >= 0.5
        case "integer" | "number":
            low, high = schema.get("minimum", 0), schema.get("maximum", 10)
            return round(low + (high - low) * share)
    return note


def _from_worst(choices: list[Any]) -> list[Any]:
    """Choices that are numbers, also in strings, by size; others are listed from the best on, as labels are."""
    try:
        return sorted(choices, key=float)
    except (TypeError, ValueError):
        return choices[::-1]
