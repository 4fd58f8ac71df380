"""Verdicts in words: booleans, labels and numbers, where a judge declares them.

A declaration is: a JSON object with a verdict field, a fenced block, a labelled value ("Grade: C", "the score is 9"), a
marked value ("[RESULT] 4", "[[4]]", "\\boxed{4}"), or a first or last line that holds nothing else. Words in running prose
are none. All declarations of a reply must agree; one that says "final" or "overall" outranks the others.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from vivavoce.metrics.verdicts.clean import fences, plain
from vivavoce.metrics.verdicts.objects import scan
from vivavoce.metrics.verdicts.spec import Verdict, VerdictSpec

KEYS = (
    "answer", "choice", "classification", "conclusion", "decision", "evaluation", "grade", "judgement", "judgment", "label",
    "mark", "rating", "result", "score", "selection", "verdict",
)  # fmt: skip
TRUE = ("true", "yes", "correct")
FALSE = ("false", "no", "incorrect")

_LEAD = r"(?:so|thus|hence|therefore|overall|finally|in conclusion|and|the|my|your|an?|is)"
_RANK = r"(?:final|overall|total)"
_DECLARED = re.compile(
    rf"(?:^|\n|[.!?:;]\s)[\s>#*_\-|\d.)`\"']{{0,20}}(?:{_LEAD},?[ ]+){{0,4}}(?P<rank>{_RANK}[ ]+)?(?:quality[ ]+)?"
    rf"(?:{'|'.join(KEYS)})s?[ ]*[*_`\"']*[ ]*(?::|=|[ ]is(?:[ ]+[*_]*)?:?)[ ]*(?=(?P<value>[^\n]{{0,200}}))",
    re.IGNORECASE,
)
_MARKED = re.compile(
    r"\[result\][ :]*(?=(?P<result>[^\n]{0,200}))|\[\[(?P<double>[^\[\]\n]{0,200})\]\]|\\boxed\{(?P<boxed>[^{}\n]{0,200})\}",
    re.IGNORECASE,
)
_MARKUP = "*_`\"' \t#>()[]{}$"
_AFTER = re.compile(r"(?=$|[\s.,;:!?|*_`\"'(){}\[\]/]|-\s)")
_PROSE = re.compile(r"[ ]+(?!because\b|since\b|as\b|due\b|-)[a-z]", re.IGNORECASE)
_OTHER = re.compile(r"^[\s*_`\"'()\[\]]*(?:or|and|to|/|,|-|\||through)\s*(.*)", re.IGNORECASE | re.DOTALL)
_NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d+)?|\.\d+)(?![\w%])")


class _Found(NamedTuple):
    """One declaration: its value (None: it declares something that is no verdict) and what is wrong with it."""

    value: Any
    problem: str = ""
    final: bool = False


def find_word(text: str, spec: VerdictSpec) -> Verdict:
    """The verdict that all declarations of `text` agree on."""
    text = plain(text)
    found: list[_Found] = []
    seen = scan(text)
    if any(seen.values):
        found += [item for value in seen.values if value for item in _from_object(value, spec)]
        text = _outside(text, seen.spans)
    elif seen.cut and text.lstrip("`json \n").startswith("{"):
        return Verdict(error="truncated: the JSON is cut short")
    bodies, outside, open_fence = fences(text)
    if open_fence:
        return Verdict(error="truncated: the code block never ends")
    for body in bodies:
        found += _declared(body, spec) or _bare([body], spec)
    found += _declared(outside, spec)
    lines = [line for line in outside.split("\n") if line.strip(_MARKUP + ".-")]
    found += _bare(list(dict.fromkeys(lines[:1] + lines[-1:])), spec)
    return _settle(found, spec)


def _settle(found: list[_Found], spec: VerdictSpec) -> Verdict:
    finals = [item for item in found if item.final]
    found = finals or found
    values = list(dict.fromkeys((type(item.value), item.value) for item in found if item.value is not None))
    problems = [item.problem for item in found if item.value is None]
    hard = [problem for problem in problems if problem.startswith(("off the scale", "two different"))]
    if len(values) > 1:
        return Verdict(error="two different verdicts: " + ", ".join(str(value) for _, value in values[:4]))
    if len(values) == 1 and not hard:
        return Verdict(value=values[0][1])
    if problems:
        return Verdict(error=(hard or problems)[0])
    return Verdict(error=f"no verdict found; expected {spec.form()}")


def _from_object(value: Any, spec: VerdictSpec) -> list[_Found]:
    if not isinstance(value, dict):
        return []
    found = []
    for key, item in value.items():
        words = re.sub(r"[\s_-]+", " ", key).strip().casefold().split(" ")
        if words[-1] not in KEYS or not all(word in {"final", "overall", "total", "quality"} for word in words[:-1]):
            continue
        final = len(words) > 1 and words[0] != "quality"
        if isinstance(item, bool):
            found.append(_Found(item, final=final) if spec.kind == "boolean" else _Found(None, f"{key} is {item}", final))
        elif isinstance(item, (int, float)) and spec.kind in {"integer", "number"}:
            found.append(_number(item, spec)._replace(final=final))
        else:
            read = _read(str(item), spec, whole=True)
            found.append(
                (read or _Found(None, f"{str(item)[:40]!r} is no verdict; expected {spec.form()}"))._replace(final=final)
            )
    return found or [_Found(None, "the JSON has no verdict field; expected " + spec.form())]


def _outside(text: str, spans: list[tuple[int, int]]) -> str:
    """Text without its JSON objects: what a JSON string says is not declared."""
    for start, end in reversed(spans):
        text = text[:start] + "\n" + text[end:]
    return text


def _declared(text: str, spec: VerdictSpec) -> list[_Found]:
    found = []
    for match in _DECLARED.finditer(text):
        rest = match["value"].lstrip(_MARKUP + ":")
        following = "" if rest else text[match.end() : match.end() + 200].lstrip("\n " + _MARKUP).split("\n")[0]
        read = _read(rest or following, spec, whole=False)
        if read is None:
            shown = " ".join((rest or following).split())[:40]
            read = _Found(
                None, f"{shown!r} is no verdict; expected {spec.form()}" if shown else f"no value; expected {spec.form()}"
            )
        found.append(read._replace(final=match["rank"] is not None))
    for match in _MARKED.finditer(text):
        rest = next(group for group in match.groups() if group is not None).lstrip(_MARKUP + ":")
        rest = re.sub(rf"^(?:{'|'.join(KEYS)})\s*[:=]?\s*", "", rest, flags=re.IGNORECASE)
        read = _read(rest, spec, whole=False)
        found.append(read or _Found(None, f"{rest[:40]!r} is no verdict; expected {spec.form()}"))
    return found


def _bare(lines: list[str], spec: VerdictSpec) -> list[_Found]:
    found = [_read(line.strip(_MARKUP + "\n"), spec, whole=True) for line in lines]
    return [item for item in found if item is not None]


def _read(text: str, spec: VerdictSpec, *, whole: bool) -> _Found | None:
    """Read a value at the start of `text` (`whole`: that is all of it); None if no value stands there."""
    if spec.kind in {"integer", "number"}:
        return _read_number(text, spec, whole=whole)
    for word, value in _vocabulary(spec):
        if text[: len(word)].casefold() != word or not _AFTER.match(text, len(word)):
            continue
        rest = text[len(word) :]
        if whole and rest.strip(_MARKUP + ".!"):
            return None
        other = _OTHER.match(rest)
        if other and (second := _read(other[1].lstrip(_MARKUP), spec, whole=False)) and second.value != value:
            return _Found(None, f"two different verdicts: {text[:40].strip()!r}")
        return None if _PROSE.match(rest) else _Found(value)
    return None


def _vocabulary(spec: VerdictSpec) -> list[tuple[str, Any]]:
    if spec.kind == "boolean":
        pairs: list[tuple[str, Any]] = [*((word, True) for word in TRUE), *((word, False) for word in FALSE)]
    else:
        pairs = [(plain(label).casefold(), label) for label in spec.labels]
    return sorted(pairs, key=lambda pair: -len(pair[0]))


def _read_number(text: str, spec: VerdictSpec, *, whole: bool) -> _Found | None:
    match = _NUMBER.match(text)
    if not match:
        return None
    rest = text[match.end() :]
    scale = re.match(r"[*_` ]*(?:/|out of|of)[*_` ]*(\d+)(?![\d.]*\d)", rest)
    if scale:
        if int(scale[1]) != spec.high:
            return _Found(None, f"off the scale: {match[0]} of {scale[1]}, the highest is {spec.high}")
        rest = rest[scale.end() :]
    if whole and rest.strip(_MARKUP + ".!"):
        return None
    other = _OTHER.match(rest)
    if other and (second := _NUMBER.match(other[1].lstrip(_MARKUP))) and float(second[0]) != float(match[0]):
        return _Found(None, f"two different verdicts: {text[:40].strip()!r}")
    return _number(float(match[0]), spec)


def _number(value: float, spec: VerdictSpec) -> _Found:
    shown = f"{value:g}"
    if not spec.low <= value <= spec.high:
        return _Found(None, f"off the scale: {shown} is not within {spec.low} to {spec.high}")
    if spec.kind == "number":
        return _Found(float(value))
    return _Found(int(value)) if float(value).is_integer() else _Found(None, f"{shown} is not a whole number")
