"""The `filter` of RetrieveFromVectorstore: a condition on a row's pdf_id, page_number or primary_key.

A small part of Milvus' boolean grammar (== != < <= > >= in, not in, and, or, not, parentheses, with && || ! as synonyms),
read through Python's syntax tree; nothing is executed. What a row does not tell (None) makes a condition unknown, and
`may_hold` then keeps it: so the condition on papers can be applied before the search, and the whole of it after.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from typing import Any

from vivavoce.tools.calculate import COMPARE
from vivavoce.tools.errors import ActionError

FIELDS = ("pdf_id", "page_number", "primary_key")
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    **COMPARE,
    ast.In: lambda left, right: left in right,
    ast.NotIn: lambda left, right: left not in right,
}


class Filter:
    """A parsed condition; raises ActionError, with what is allowed, when the text is none."""

    def __init__(self, text: str) -> None:
        if len(text) > 4000:
            raise ActionError("the filter is longer than 4000 characters")
        plain = re.sub(r"\s*&&\s*", " and ", text)
        plain = re.sub(r"\s*\|\|\s*", " or ", plain)
        plain = re.sub(r"!(?!=)", " not ", plain).strip()
        try:
            self._tree = ast.parse(plain, mode="eval").body if plain else None
            self.fields = frozenset(_names(self._tree)) if self._tree else frozenset()
            self.may_hold(dict.fromkeys(FIELDS))  # a dry run finds what is not allowed
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise ActionError(f"the filter {text!r} is not a condition; write pdf_id == 'ID' and page_number == 2") from None

    def may_hold(self, row: Mapping[str, Any]) -> bool:
        """Whether a row may satisfy the condition: True or unknown."""
        return self._tree is None or _truth(self._tree, row) is not False


def _names(node: ast.AST) -> list[str]:
    names = [item.id for item in ast.walk(node) if isinstance(item, ast.Name)]
    unknown = sorted(set(names) - set(FIELDS))
    if unknown:
        hints = {"paper_id": "papers are pdf_id here", "page_id": "pages are page_number here"}
        hint = "".join(f" ({hints[name]})" for name in unknown if name in hints)
        raise ActionError(f"the filter names {', '.join(unknown)}{hint}; it may name {', '.join(FIELDS)}")
    return names


def _truth(node: ast.expr, row: Mapping[str, Any]) -> bool | None:
    match node:
        case ast.BoolOp(op=ast.And(), values=values):
            truths = [_truth(value, row) for value in values]
            return False if False in truths else None if None in truths else True
        case ast.BoolOp(op=ast.Or(), values=values):
            truths = [_truth(value, row) for value in values]
            return True if True in truths else None if None in truths else False
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            truth = _truth(operand, row)
            return None if truth is None else not truth
        case ast.Compare(left=left, ops=[sign], comparators=[right]) if type(sign) in _COMPARE:
            pair = (_operand(left, row), _operand(right, row))
            if None in pair:
                return None
            try:
                return _COMPARE[type(sign)](*pair)
            except TypeError:
                raise ActionError("the filter compares a number with a text") from None
    raise ActionError("the filter may use == != < <= > >= in, not in, and, or, not, and parentheses")


def _operand(node: ast.expr, row: Mapping[str, Any]) -> Any:
    match node:
        case ast.Name(id=name):
            return row.get(name)
        case ast.Constant(value=str() | int() | float() as value):
            return value
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [_operand(item, row) for item in items]
    raise ActionError("the filter compares fields with texts, numbers or lists of them")
