"""JSON verdicts: found anywhere in a reply, mended where mending is certain, checked against a schema."""

from __future__ import annotations

import functools
import json
import math
import re
from typing import Any, NamedTuple

import jsonschema
from jsonschema.protocols import Validator

from vivavoce.files import canonical
from vivavoce.metrics.verdicts.clean import plain, visible
from vivavoce.metrics.verdicts.spec import Verdict

WORK = 10  # how many times a reply may be gone through in search of closing brackets: a limit for hostile replies


def find_json(text: str, schema: dict[str, Any]) -> Verdict:
    """The one value in `text` that fits `schema`, whatever stands around it.

    Trailing commas, a doubled outer brace and full-width punctuation are mended, and numbers written as strings are read
    as numbers where the schema asks for them. Two fitting values that differ, a value off the schema's scale beside a
    fitting one, and JSON that is cut short are errors.
    """
    seen = scan(text, "[" if schema.get("type") == "array" else "{")
    problems = list(seen.problems)
    fitting = []
    for value in seen.values:
        mended = _numbers(value, schema)
        problem = _problem(mended, schema)
        if not problem:
            fitting.append(mended)
        elif not _unrelated(value, schema):
            problems.append(problem)
    distinct = {canonical(value): value for value in fitting}
    if len(distinct) == 1 and not problems and not seen.cut:
        return Verdict(value=next(iter(distinct.values())))
    if seen.cut:
        return Verdict(error="truncated: the JSON is cut short")
    if len(distinct) > 1:
        return Verdict(error=f"{len(distinct)} different JSON verdicts")
    if problems:
        return Verdict(error=problems[0] + (" beside a valid JSON verdict" if distinct else ""))
    return Verdict(error=_problem(seen.values[0], schema) if seen.values else "no JSON in the reply")


class Scan(NamedTuple):
    """The JSON of a text: values and where they stand (in `text`), what was wrong with others, whether one is cut short."""

    text: str
    values: list[Any]
    spans: list[tuple[int, int]]
    problems: list[str]
    cut: bool


def scan(text: str, opening: str = "{") -> Scan:
    """All top-level JSON values of a text that start with `opening`."""
    text = visible(text)
    seen = Scan(text, [], [], [], False)
    at = text.find(opening)
    if at < 0 and plain(text) != text:
        text = plain(text)
        seen = seen._replace(text=text)
        at = text.find(opening)
    work = WORK * len(text) + 10_000
    while work > 0:
        if at < 0:
            return seen
        end = _end(text, at)
        work -= (end if end > 0 else len(text)) - at
        if end < 0:
            if _looks_like_json(text, at):
                return seen._replace(cut=True)
            at = text.find(opening, at + 1)
            continue
        found, value, problem = _load(text[at:end])
        if found:
            seen.values.append(value)
            seen.spans.append((at, end))
        elif _looks_like_json(text, at):
            seen.problems.append(problem)
        else:
            end = at + 1
        at = text.find(opening, end)
    seen.problems.append("too many opening brackets")
    return seen


def _end(text: str, start: int) -> int:
    """Where the bracket at `start` closes, strings honoured; -1 if it never does."""
    depth = 0
    for match in _TOKEN.finditer(text, start):
        if match[0] in "{[":
            depth += 1
        elif match[0] in "}]":
            depth -= 1
            if depth == 0:
                return match.end()
    return -1


# A complete string, a string that never ends (its brackets are no brackets), or a bracket.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|"(?:[^"\\]|\\.)*\\?\Z|[{}\[\]]', re.DOTALL)
_TRAILING = re.compile(r'("(?:[^"\\]|\\.)*")|,(\s*[}\]])', re.DOTALL)


def _looks_like_json(text: str, at: int) -> bool:
    rest = text[at + 1 : at + 200].lstrip()
    return rest[:1] in {'"', "}", "]"} if text[at] == "{" else rest[:1] in {'"', "{", "]"} or rest[:1].isdigit()


def _load(text: str) -> tuple[bool, Any, str]:
    problem = "broken JSON"
    for attempt in _mended(text):
        try:
            return True, json.loads(attempt, object_pairs_hook=_pairs, parse_constant=_constant, strict=False), ""
        except _TwiceError as error:
            return False, None, str(error)
        except json.JSONDecodeError as error:
            problem = f"broken JSON: {error.msg}"
        except (ValueError, RecursionError):
            problem = "broken JSON: out of range"
    return False, None, problem


def _mended(text: str) -> list[str]:
    commas = _TRAILING.sub(lambda match: match[1] or match[2], text)
    attempts = [text, commas]
    if text.startswith("{{") and text.endswith("}}"):
        attempts.append(commas[1:-1])
    narrow = plain(commas)
    return [*attempts, narrow] if narrow != commas else attempts


class _TwiceError(ValueError):
    """A field that is given twice, with two values."""


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found and found[key] != value:
            raise _TwiceError(f"the field '{key}' is given twice, with different values")
        found[key] = value
    return found


def _constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def _unrelated(value: Any, schema: dict[str, Any]) -> bool:
    """Whether a value that does not fit is no attempt at the verdict at all: it has none of the required fields."""
    required = schema.get("required", ())
    return bool(required) and (not isinstance(value, dict) or not any(field in value for field in required))


def _numbers(value: Any, schema: Any) -> Any:
    """Numbers in strings as numbers, and whole floats as ints, where the schema asks for a number."""
    if not isinstance(schema, dict):
        return value
    kind = schema.get("type")
    if isinstance(value, dict) and isinstance(schema.get("properties"), dict):
        return {key: _numbers(item, schema["properties"].get(key)) for key, item in value.items()}
    if isinstance(value, list):
        return [_numbers(item, schema.get("items")) for item in value]
    if kind in {"integer", "number"} and isinstance(value, str):
        try:
            number = float(value.strip())
        except ValueError:
            return value
        value = number if math.isfinite(number) else value
    if kind in {"integer", "number"} and isinstance(value, float) and value.is_integer():
        return int(value)
    return value


@functools.lru_cache(maxsize=256)
def _validator(schema: str) -> Validator:
    return jsonschema.Draft202012Validator(json.loads(schema))


def _problem(value: Any, schema: dict[str, Any]) -> str:
    """The first thing that is wrong with `value`, in words for a judge; empty if it fits."""
    errors = sorted(_validator(canonical(schema)).iter_errors(value), key=lambda error: (len(error.path), str(error.path)))
    if not errors:
        return ""
    error = errors[0]
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.path).lstrip(".") or "the verdict"
    if error.validator == "required":
        required: Any = error.validator_value
        instance: Any = error.instance
        missing = [field for field in required if field not in instance]
        return f"missing field {', '.join(missing)}"
    if error.validator in {"minimum", "maximum"}:
        return f"off the scale: {where} is {error.instance}, the {error.validator} is {error.validator_value}"
    return f"{where}: {error.message[:200]}"
