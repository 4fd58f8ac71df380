"""What verdict a judge is asked for, and what was read."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Kind = Literal["boolean", "label", "integer", "number", "json", "text"]


class VerdictSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The form of a verdict, as the `verdict:` entry of a task file says it.

    `labels` for `label`; `low` and `high` (both included) for `integer` and `number`; `schema`, a JSON schema of type
    object or array, for `json`. Raises ValueError (msgspec.ValidationError from YAML) if they do not fit together.
    """

    kind: Kind
    labels: tuple[str, ...] = ()
    low: int = 1
    high: int = 10
    schema: dict[str, Any] = {}

    def __post_init__(self) -> None:
        if self.kind == "label" and len({label.casefold() for label in self.labels}) < 2:
            raise ValueError("a label verdict needs at least two different labels")
        if self.low >= self.high:
            raise ValueError(f"a scale needs low < high, not {self.low}..{self.high}")
        if self.kind == "json" and self.schema.get("type") not in {"object", "array"}:
            raise ValueError("a json verdict needs a schema of type object or array")

    def form(self) -> str:
        """What is expected, in words for a judge."""
        match self.kind:
            case "boolean":
                return "True or False"
            case "label":
                return "exactly one of " + ", ".join(self.labels)
            case "integer":
                return f"one whole number from {self.low} to {self.high}"
            case "number":
                return f"one number from {self.low} to {self.high}"
            case "json":
                fields = ", ".join(self.schema.get("required", ()))
                return "one JSON " + str(self.schema["type"]) + (f" with the fields {fields}" if fields else "")
            case "text":
                return "text"


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What was read: a value, or (value None) the reason why there is none."""

    value: Any = None
    error: str = ""
