"""How the offline baseline answers: by rules over the answer format and the question, from the nearest passages."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from vivavoce.models.extractive_rows import from_rows, rows_seen
from vivavoce.models.extractive_spans import formulas, names, numbers
from vivavoce.models.extractive_text import Sentence, best_cell, coverage, negated, rank

_COUNTS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
_ITEM = re.compile(
    r"\b(integer|int|float|floating-point|number|boolean|bool|formula|latex|string|title|name|text|list)s?\b", re.I
)


def answer(fields: Mapping[str, Any]) -> Any:
    """An answer in the format asked for: a text (with citations where asked for), a number, a truth value, a list or a dict."""
    task, contexts = fields["task"], fields["contexts"]
    ranked = rank(fields["question"], contexts)
    if task in ("claim", "boolean"):
        return _verdict(fields, ranked)
    if task in ("short_form", "long_form", "scidqa"):
        most = {"short_form": 2, "scidqa": 3}.get(task, 8)
        return _prose(ranked, most, cite=bool(fields.get("cite"))) or "The paper does not say."
    return _coerce(fields, ranked)


def shape_of(answer_format: str, question: str) -> str:
    """What kind of answer is asked for: dict, list, boolean, choice, title, integer, float, formula, name or text."""
    form = answer_format.lower()
    tests: tuple[tuple[str, str], ...] = (
        ("dict", r"dict"),
        ("list", r"\blists?\b"),
        ("title", r"\btitle of the paper"),
        ("boolean", r"\bboolean|\bbool\b|true or false"),
        ("choice", r"[\"'][^\"']+[\"'],? (?:or|and) [\"']"),
        ("integer", r"\binteger|\bint\b|whole number"),
        ("float", r"\bfloat|percentage|decimal|\bnumber\b"),
        ("formula", r"\bformula|\blatex|\bequation"),
        ("text", r"free-form|\bbrief|\bsummar|\bdescri|\bexplain|\bsentence|text\b|about the|indicating"),
        ("name", r"\bstring|\bname|\bword|\bphrase"),
    )
    for shape, pattern in tests:
        if re.search(pattern, form):
            return shape
    return "name" if re.match(r"(?:which|who|where|what is the name)\b", question.lower()) else "text"


def _coerce(fields: Mapping[str, Any], ranked: Sequence[Sentence]) -> Any:
    question, form = fields["question"], fields["answer_format"]
    shape = shape_of(form, question)
    known = from_rows(question, shape, rows_seen(fields["history"]))
    if known is not None:
        return known
    if shape == "dict":
        keys = re.findall(r"[\"']([\w -]+)[\"']", form)
        items = re.findall(r"float|integer|boolean", form.lower())
        kind = items[0] if items else "string"
        found = _many(kind, len(keys) or 1, question, ranked, fields)
        return dict(zip(keys or ["answer"], found, strict=False))
    if shape == "list":
        return _list(question, form, ranked, fields)
    return _single(shape, question, form, ranked, fields)


def _single(shape: str, question: str, form: str, ranked: Sequence[Sentence], fields: Mapping[str, Any]) -> Any:
    match shape:
        case "boolean":
            return _truth(question, ranked)
        case "choice":
            options = re.findall(r"[\"']([^\"']{1,60})[\"']", form)
            near = " ".join(sentence.text for sentence in ranked[:3]).lower()
            return max(options, key=lambda option: (near.count(option.lower()), -options.index(option)))
        case "integer" | "float":
            return _many(shape, 1, question, ranked, fields)[0]
        case "title":
            return _title(fields, ranked)
        case "formula":
            return next(iter(formulas(ranked)), "x = y")
        case "name":
            if re.search(r"e-?mail", question, re.I):
                found = re.search(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+", " ".join(sentence.text for sentence in ranked))
                return found[0].rstrip(".") if found else "none"
            return next(iter(names(question, ranked)), "none")
    return _prose(ranked, 2, cite=False) or "The paper does not say."


def _list(question: str, form: str, ranked: Sequence[Sentence], fields: Mapping[str, Any]) -> list[Any]:
    lower = re.sub(r"\be\.g\..*", "", form.lower())
    kinds = [kind.lower() for kind in _ITEM.findall(lower.split("list", 1)[-1])]
    count = next((_COUNTS[word] for word in re.findall(r"[a-z]+", lower) if word in _COUNTS), 0)
    count = count or int(next(iter(re.findall(r"\b([2-9])\b (?:elements|items|strings)", lower)), 0))
    if kinds and all(kind in ("title", "list") for kind in kinds):
        rows = rows_seen(fields["history"])
        places = ("title", "title_abstract")
        read = [str(row["text"]).split("\n")[0] if row.get("column_name") in places else row.get("title", "") for row in rows]
        titles = dict.fromkeys([*(str(item["title"]) for item in _titled(fields)), *(str(title) for title in read if title)])
        return list(titles)[: count or 3] or [_title(fields, ranked)]
    if len(set(kinds)) > 1 and count in (0, len(kinds)):
        found = []
        for place, kind in enumerate(kinds):
            rest = ranked[kinds[:place].count(kind) :] or ranked  # a second value of a kind comes from the next sentence
            found.append(_single(_shape(kind), question, "", rest, fields))
        return found
    kind = kinds[0] if kinds else "string"
    return _many(kind, count or 3, question, ranked, fields)


def _many(kind: str, count: int, question: str, ranked: Sequence[Sentence], fields: Mapping[str, Any]) -> list[Any]:
    """`count` different values of one kind, nearest first; filled up with a fixed value."""
    shape = _shape(kind)
    if shape == "boolean":
        return [_truth(question, ranked[place:] or ranked) for place in range(count)]
    if shape in ("integer", "float"):
        cell = best_cell(question, fields["contexts"])
        computed = [] if count > 1 else _computed(fields["history"])
        found = computed + (numbers("", cell[0]) if cell else [])
        for sentence in ranked[:6]:
            found += numbers(question, sentence.text, decimals=shape == "float")
        convert: Callable[[float], Any] = round if shape == "integer" else float
        return _filled([convert(value) for value in found], count, 2 if shape == "integer" else 0.5)
    if shape == "formula":
        return _filled(formulas(ranked), count, "x = y")
    return _filled(names(question, ranked), count, "none")


def _shape(kind: str) -> str:
    table = {
        "int": "integer",
        "floating-point": "float",
        "number": "float",
        "bool": "boolean",
        "latex": "formula",
        "title": "title",
    }
    return table.get(kind, kind if kind in ("integer", "float", "boolean", "formula", "title") else "name")


def _filled(found: Sequence[Any], count: int, value: Any) -> list[Any]:
    different = list(dict.fromkeys(found))[:count]
    return different + [value] * (count - len(different))


def _computed(history: Sequence[Mapping[str, Any]]) -> list[float]:
    for turn in reversed(history):
        if turn.get("action") == "CalculateExpr" and (match := re.search(r"is: (-?[\d.]+)$", turn.get("observation", ""))):
            return [float(match[1])]
    return []


def _title(fields: Mapping[str, Any], ranked: Sequence[Sentence]) -> str:
    titled = _titled(fields)
    best = ranked[0].passage if ranked else 0
    near = [item for item in titled if item is fields["contexts"][best]] if titled else []
    if titled:
        return str((near or titled)[0]["title"])
    return ranked[0].text[:200] if ranked else "none"


def _titled(fields: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The passages whose title was shown: by prompts of one call, and by searches that are set to show titles."""
    shown = fields["kind"] == "answer" or fields.get("titles")
    return [item for item in fields["contexts"] if shown and item.get("title")]


def _truth(question: str, ranked: Sequence[Sentence]) -> bool:
    if not ranked:
        return True
    best = ranked[0].text
    return coverage(question, best) >= 0.3 and negated(question) == negated(best)


def _verdict(fields: Mapping[str, Any], ranked: Sequence[Sentence]) -> str:
    claim = fields["task"] == "claim"
    true, false = ("true", "false") if claim else ("yes", "no")
    if not ranked:
        return true
    best = ranked[0]
    holds = negated(fields["question"]) == negated(best.text) and (not claim or coverage(fields["question"], best.text) >= 0.4)
    return f"{true if holds else false}{f' [{best.passage}]' if fields.get('cite') else ''}"


def _prose(ranked: Sequence[Sentence], most: int, *, cite: bool) -> str:
    """The best sentences, in the order of the passages, each with its citation before the full stop."""
    different = {sentence.text: sentence for sentence in reversed(ranked) if len(sentence.text.split()) > 4}
    best = sorted(different.values(), key=lambda sentence: -sentence.score)[:most]
    chosen = sorted(best, key=lambda sentence: (sentence.passage, -sentence.score))
    parts = []
    for sentence in chosen:
        body = re.sub(r"\[\d+(?:, ?\d+)*\]", "", sentence.text[:600]).strip().rstrip(".!?; ")
        if body:
            parts.append(f"{body} [{sentence.passage}]." if cite else f"{body}.")
    return " ".join(parts)
