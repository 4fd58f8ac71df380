"""The objective evaluators as the questions' answer formats mean them.

Same names and keywords as `published`; what each accepts more or less is listed in docs/divergences.md. Predictions
and golds are both read by `normal` before they are compared. None of these raises, whatever the prediction is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Any

import msgspec

from vivavoce.metrics.airqa.fuzzy import similarity
from vivavoce.metrics.airqa.matching import pairs
from vivavoce.metrics.airqa.normal import Number, boolean, flag, mapping, normal, number, sequence

MAX_ITEMS = 5_000  # a longer list is no answer
ALIASES = {"ignore_case": "lowercase", "nidigits": "ndigits", "fomulas": "formulas"}  # misspelt in the records


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """How to compare, from a record's keywords; `tolerance` is relative (absolute at zero), `abs_tolerance` absolute."""

    lowercase: bool = False
    ignore_blank: bool = False
    ignore_order: bool = False
    ndigits: int | None = None
    tolerance: float = 1e-6
    abs_tolerance: float = 0.0
    threshold: float = 0.0
    fuzz_method: str = "ratio"


def repaired(kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The keywords with the misspelt ones under their right names."""
    return {ALIASES.get(name, name): value for name, value in kwargs.items()}


def options(kwargs: Mapping[str, Any], **defaults: Any) -> Options:
    """Read the keywords of an evaluator; a threshold of 0..1 is one of 0..100 by mistake. Unknown keywords are left out."""
    known = defaults | {name: value for name, value in repaired(kwargs).items() if name in Options.__struct_fields__}
    for name in ("lowercase", "ignore_blank", "ignore_order"):
        known[name] = flag(known.get(name, False))
    threshold = known.get("threshold", 0.0)
    known["threshold"] = max(0.0, threshold * 100 if 0 < threshold <= 1 else threshold)
    return Options(**known)


def same(pred: Any, gold: Any, how: Options) -> bool:
    """Whether the prediction is the gold value, by the gold's type; lists and dicts element by element."""
    if isinstance(gold, bool):
        return boolean(pred) is gold
    if isinstance(gold, int):
        value = number(pred)
        return value is not None and _equal(value, gold)
    if isinstance(gold, float):
        value = number(pred)
        return value is not None and close(value, gold, how)
    if isinstance(gold, (list, tuple)):
        return _same_list(pred, list(gold), how)
    if isinstance(gold, dict):
        return _same_dict(pred, gold, how)
    if gold is None:
        return pred is None or normal(pred).casefold() in ("none", "null")
    return same_text(pred, gold, how)


def same_text(pred: Any, gold: Any, how: Options) -> bool:
    """Equal after normalisation, or with a threshold: similar enough."""
    a, b = _key(pred, how), _key(gold, how)
    if a == b or not how.threshold:
        return a == b
    method = how.fuzz_method
    if method.startswith("partial") and 2 * len(a) < len(b):
        method = "ratio"  # a fragment of less than half the gold is no answer
    return similarity(method, a, b) >= how.threshold


def close(value: Number, gold: Number, how: Options) -> bool:
    """Equal when both are rounded to `ndigits` (halves up or to even), or within the tolerances."""
    try:
        a, b = float(value), float(gold)
    except OverflowError:
        return False
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    absolute = max(how.abs_tolerance, how.tolerance if b == 0 else 0.0)
    if how.ndigits is None:
        return math.isclose(a, b, rel_tol=how.tolerance, abs_tol=absolute)
    roundings = (ROUND_HALF_UP, ROUND_HALF_EVEN)
    candidates = [(_rounded(value, how.ndigits, rule), _rounded(gold, how.ndigits, rule)) for rule in roundings]
    return any(math.isclose(x, y, rel_tol=how.tolerance, abs_tol=absolute) for x, y in candidates)


def _string(pred: Any, gold: Any, how: Options) -> bool:
    """Text; where the gold is a list of one (a slip of the records) the element or the list of it."""
    if isinstance(gold, (list, tuple)):
        if len(gold) != 1:
            return same(pred, gold, how)
        items = sequence(pred)
        return same_text(items[0] if items is not None and len(items) == 1 else pred, gold[0], how)
    return same_text(pred, gold, how)


def string_exact(pred: Any, kwargs: Mapping[str, Any]) -> bool:
    return _string(pred, kwargs["gold"], options({**kwargs, "threshold": 0.0}))


def string_fuzzy(pred: Any, kwargs: Mapping[str, Any]) -> bool:
    return _string(pred, kwargs["gold"], options(kwargs, threshold=95))


def bool_exact(pred: Any, kwargs: Mapping[str, Any]) -> bool:
    return boolean(pred) is (flag(kwargs["gold"]))


def int_exact(pred: Any, kwargs: Mapping[str, Any]) -> bool:
    value, gold = number(pred), number(kwargs["gold"])
    return value is not None and gold is not None and _equal(value, gold)


def float_exact(pred: Any, kwargs: Mapping[str, Any]) -> bool:
    value, gold = number(pred), number(kwargs["gold"])
    return value is not None and gold is not None and close(value, gold, options(kwargs))


def structured(pred: Any, kwargs: Mapping[str, Any]) -> bool:
    return same(pred, kwargs["gold"], options(kwargs))


def element_included(pred: Any, kwargs: Mapping[str, Any]) -> bool:
    items = sequence(pred)
    alone = items[0] if items is not None and len(items) == 1 else pred
    how = options(kwargs, ndigits=2)
    return any(_same_element(item, gold, kwargs, how) for item in (pred, alone) for gold in _golds(kwargs))


def element_list_included(pred: Any, kwargs: Mapping[str, Any]) -> bool:
    items, golds, how = _items(pred), _golds(kwargs), options(kwargs, ndigits=2)
    if not items:
        return not golds and items is not None
    return all(any(_same_element(item, gold, kwargs, how) for gold in golds) for item in items)


def element_list_overlap(pred: Any, kwargs: Mapping[str, Any]) -> bool:
    how = options(kwargs, ndigits=2)
    found = pairs(_items(pred) or [], _golds(kwargs), lambda item, gold: _same_element(item, gold, kwargs, how))
    return found >= max(1, int(kwargs.get("count", 1)))


def paper_relevance(pred: Any, kwargs: Mapping[str, Any]) -> bool:
    references = kwargs["reference_answer"]
    how = options({"threshold": kwargs.get("threshold", 95), "lowercase": True})
    items = sequence(pred)
    title = items[0] if items is not None and len(items) == 1 else pred
    return any(same_text(title, item, how) for item in (references if isinstance(references, list) else [references]))


FUNCTIONS: Mapping[str, Callable[[Any, Mapping[str, Any]], bool]] = {
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


def readable(function: str, pred: Any, kwargs: Mapping[str, Any]) -> bool:
    """Whether the prediction has the form that the function asks for; a negation rewards no answer without one."""
    if pred is None or (isinstance(pred, str) and not pred.strip()):
        return False
    gold = kwargs.get("gold")
    if function == "eval_bool_exact_match":
        return boolean(pred) is not None
    if function in ("eval_int_exact_match", "eval_float_exact_match"):
        return number(pred) is not None
    if function.startswith("eval_element_list"):
        return sequence(pred) is not None
    if function == "eval_structured_object_exact_match":
        if isinstance(gold, dict):
            return mapping(pred) is not None
        return not isinstance(gold, list) or sequence(pred) is not None
    return True


def _same_list(pred: Any, golds: list[Any], how: Options) -> bool:
    items = sequence(pred)
    if len(golds) == 1 and (items is None or len(items) != 1) and not isinstance(pred, (list, tuple, set)):
        items = [pred]  # a lone value stands for the list of it
    if items is None or len(items) != len(golds):
        return False
    if all(same(item, gold, how) for item, gold in zip(items, golds, strict=True)):
        return True
    return how.ignore_order and pairs(items, golds, lambda item, gold: same(item, gold, how)) == len(golds)


def _same_dict(pred: Any, golds: Mapping[Any, Any], how: Options) -> bool:
    items = mapping(pred)
    if items is None or len(items) != len(golds):
        return False
    by_key = {_key(name, how): name for name in items}
    for name, gold in golds.items():
        found = name if name in items else by_key.get(_key(name, how))
        if found is None or not same(items[found], gold, how):
            return False
    return True


def _same_element(item: Any, gold: Any, kwargs: Mapping[str, Any], how: Options) -> bool:
    kind = kwargs.get("element_type", "str")
    if kind == "str":
        return same_text(item, gold, how)
    if kind == "float":
        value, target = number(item), number(gold)
        return value is not None and target is not None and close(value, target, how)
    return same(item, gold, how)


def _golds(kwargs: Mapping[str, Any]) -> list[Any]:
    gold = kwargs["gold"]
    return list(gold) if isinstance(gold, (list, tuple)) else [gold]


def _items(pred: Any) -> list[Any] | None:
    items = sequence(pred)
    if items is None:
        items = [pred] if pred is not None and normal(pred) else None
    return items if items is None or len(items) <= MAX_ITEMS else None


def _key(value: Any, how: Options) -> str:
    text = normal(value)
    if how.ignore_blank:
        text = "".join(text.split())
    return text.casefold() if how.lowercase else text


def _equal(value: Number, gold: Number) -> bool:
    """Exactly the same number: 42.0 is 42, 3.7 is not 3."""
    return not isinstance(gold, bool) and (Decimal(str(value)) if isinstance(value, float) else value) == gold


def _rounded(value: Number, ndigits: int, rule: str) -> float:
    try:
        return float(Decimal(str(value)).quantize(Decimal(1).scaleb(-ndigits), rounding=rule))
    except (InvalidOperation, OverflowError):
        return float(value)
