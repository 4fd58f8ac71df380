"""The objective evaluators as upstream computes them, defects included, except that nothing is executed.

Source: OpenDFM/NeuSym-RAG@596e644e, evaluation/match_functions.py and set functions, re-written after the executed cases of
the golden file. Each takes the prediction (text, or a Python object inside a conjunction) and the record's `eval_kwargs`,
returns 0.0 or 1.0, and raises what upstream raises (TypeError, AttributeError, ...), which the caller counts as 0.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from vivavoce.metrics.airqa.fuzzy import ratio, similarity
from vivavoce.metrics.literals import json_value, python_literal

_TRUE = ("true", "1", "yes", "y", "t")
_FALSE = ("false", "0", "no", "n", "f")


def string_exact(pred: Any, gold: Any, lowercase: Any = False, ignore_blank: Any = False, **_: Any) -> float:
    """Equal as stripped text; quotes, fences and punctuation count."""
    return float(_plain(pred, lowercase, ignore_blank) == _plain(gold, lowercase, ignore_blank))


def string_fuzzy(
    pred: Any,
    gold: Any,
    fuzz_method: str = "ratio",
    threshold: float = 95,
    ignore_blank: Any = False,
    lowercase: Any = False,
    **_: Any,
) -> float:
    """A fuzzy ratio of 0..100 reaches `threshold`, which some records give on a scale of 0..1."""
    filler = " " if fuzz_method.startswith("token") else ""
    a, b = (_plain(value, lowercase, ignore_blank, filler) for value in (pred, gold))
    return float(similarity(fuzz_method, a, b) >= threshold)


def bool_exact(pred: Any, gold: Any, **_: Any) -> float:
    """The same truth value; text is not stripped, and a gold of "false" is truthy."""
    if isinstance(pred, (bool, int, float)):
        return float(pred in (0, 1) and bool(pred) == bool(gold))
    text = str(pred).lower()
    return float(text in (_TRUE if gold else _FALSE))


def int_exact(pred: Any, gold: Any, **_: Any) -> float:
    """Equal after `int()`: a float is cut off, "42.0" is refused."""
    try:
        return float(int(pred) == int(gold))
    except (TypeError, ValueError, OverflowError):
        return 0.0


def float_exact(pred: Any, gold: Any, ndigits: int | None = None, tolerance: float = 1e-6, **_: Any) -> float:
    """Close after rounding; the tolerance is relative, so that nothing but 0 is close to 0."""
    try:
        value, target = float(pred), gold
        if ndigits is not None:
            value, target = round(value, ndigits), round(gold, ndigits)
        return float(math.isclose(value, target, rel_tol=tolerance))
    except (TypeError, ValueError, OverflowError):
        return 0.0


def structured(pred: Any, gold: Any, ignore_order: Any = False, **options: Any) -> float:
    """Lists and dicts element by element, dispatched on the gold's type; booleans go to `int_exact`."""
    if isinstance(gold, list):
        items, golds = as_list(pred), gold
        if len(items) != len(golds):
            return 0.0
        if ignore_order:  # before lower-casing and stripping, as upstream does
            items, golds = sorted(items, key=str), sorted(golds, key=str)
        return float(all(structured(a, b, ignore_order=ignore_order, **options) for a, b in zip(items, golds, strict=True)))
    if isinstance(gold, dict):
        return _dict_exact(pred, gold, ignore_order, options)
    if isinstance(gold, int):
        return int_exact(pred, gold)
    if isinstance(gold, float):
        return float_exact(pred, gold, **options)
    return _text(pred, gold, options)


def element_included(pred: Any, gold: Any, element_type: str = "str", **options: Any) -> float:
    """The prediction equals an element of gold; a gold given as text is read letter by letter."""
    return float(any(_element(pred, item, element_type, options) for item in gold))


def element_list_included(pred: Any, gold: Any, element_type: str = "str", **options: Any) -> float:
    """Every predicted element is in gold: an empty list passes."""
    return float(all(element_included(item, gold, element_type, **options) for item in as_list(pred)))


def element_list_overlap(pred: Any, gold: Any, count: int = 1, element_type: str = "str", **options: Any) -> float:
    """At least `count` predicted elements, distinct as text, are in gold."""
    found = set()
    for item in as_list(pred):
        if element_included(item, gold, element_type, **options):
            found.add(str(item))
            if len(found) >= count:
                return 1.0
    return 0.0


def paper_relevance(pred: Any, question: Any, reference_answer: Any, threshold: float = 95) -> float:
    """The title's ratio to a reference reaches `threshold` in lower case; not stripped. No other keyword is taken."""
    if isinstance(reference_answer, str):
        references = [reference_answer]
    elif isinstance(reference_answer, list):
        references = reference_answer
    else:
        return 0.0
    return float(any(ratio(pred.lower(), reference.lower()) >= threshold for reference in references))


FUNCTIONS: Mapping[str, Callable[..., float]] = {
    "eval_string_exact_match": string_exact,
    "eval_string_fuzzy_match": string_fuzzy,
    "eval_bool_exact_match": bool_exact,
    "eval_int_exact_match": int_exact,
    "eval_float_exact_match": float_exact,
    "eval_structured_object_exact_match": structured,
    "eval_element_included": element_included,
    "eval_element_list_included": element_list_included,
    "eval_element_list_overlap": element_list_overlap,
    "eval_paper_relevance_with_reference_answer": paper_relevance,
}


def as_list(pred: Any) -> list[Any]:
    """The prediction as a list; what is no list literal becomes a list of one. A set is sorted (upstream: hash order)."""
    if isinstance(pred, str):
        try:
            value = python_literal(pred)
        except ValueError:
            return [pred]
    else:
        value = pred
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=str)
    return list(value) if isinstance(value, (list, tuple)) else [pred]


def as_dict(pred: Any) -> Any:
    """The prediction as a dict: JSON first (whatever it holds), then a Python literal, else None."""
    if not isinstance(pred, str):
        return pred
    for parse in (json_value, python_literal):
        try:
            return parse(pred)
        except ValueError:
            continue
    return None


def _dict_exact(pred: Any, gold: dict[str, Any], ignore_order: Any, options: dict[str, Any]) -> float:
    items = as_dict(pred)
    if not isinstance(items, dict) or len(items) != len(gold):
        return 0.0
    if options.get("lowercase"):
        items, gold = ({key.lower(): value for key, value in part.items()} for part in (items, gold))
    return float(
        all(key in items and structured(items[key], value, ignore_order=ignore_order, **options) for key, value in gold.items())
    )


def _element(pred: Any, gold: Any, element_type: str, options: dict[str, Any]) -> float:
    options = {"ndigits": 2, **options}
    if element_type == "str":
        return _text(pred, gold, options)
    if element_type == "int":
        return int_exact(pred, gold)
    if element_type == "float":
        return float_exact(pred, gold, **options)
    if element_type == "bool":
        return bool_exact(pred, gold)
    return structured(pred, gold, **options)


def _text(pred: Any, gold: Any, options: dict[str, Any]) -> float:
    return string_fuzzy(pred, gold, **options) if options.get("threshold", -1) > 0 else string_exact(pred, gold, **options)


def _plain(value: Any, lowercase: Any, ignore_blank: Any, filler: str = "") -> str:
    text = str(value).strip()
    if ignore_blank:
        text = re.sub(r"\s+", filler, text)
    return text.lower() if lowercase else text
