"""CalculateExpr: arithmetic by a walk over the syntax tree; nothing is executed, and size, depth and magnitude are bounded.

Upstream calls Python's `eval` (actions/calculate_expr.py:18@596e644e); here names, attributes, calls other than the listed
functions, and numbers beyond `MAX_BITS` bits are refused.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from typing import Any

from vivavoce.tools.errors import ActionError

MAX_CHARACTERS = 1000
MAX_BITS = 4096  # of any whole number on the way

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": abs,
    "round": lambda value, digits=0: _round(value, digits),
    "min": min,
    "max": max,
    "sum": sum,
    "len": len,
    "int": int,
    "float": float,
    "sqrt": math.sqrt,
    "log": math.log,
    "log2": math.log2,
    "log10": math.log10,
    "exp": math.exp,
    "floor": math.floor,
    "ceil": math.ceil,
    "pow": lambda base, exponent: _power(base, exponent),
}
_NAMES = {"pi": math.pi, "e": math.e}


def calculate(expression: str) -> Any:
    """The value of an arithmetic expression: a number, a truth value, or a list of them; `^` is read as a power.

    Raises ActionError when it is not arithmetic, too long, too large, or undefined (division by zero).
    """
    if len(expression) > MAX_CHARACTERS:
        raise ActionError(f"the expression has {len(expression)} characters; at most {MAX_CHARACTERS} are computed")
    try:
        return _value(ast.parse(expression.strip().replace("\u2212", "-").replace("^", "**"), mode="eval").body)
    except ActionError:
        raise
    except SyntaxError as error:
        raise ActionError(f"not an arithmetic expression: {error.msg}") from None
    except (ArithmeticError, ValueError, TypeError) as error:
        raise ActionError(f"cannot be computed: {error}") from None
    except (RecursionError, MemoryError):
        raise ActionError("the expression is nested too deeply") from None


def _value(node: ast.expr) -> Any:
    match node:
        case ast.Constant(value=bool() | int() | float() as number):
            return _bounded(number)
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [_value(item) for item in items]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_number(operand)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _number(operand)
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return _power(_number(left), _number(right))
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _BINARY:
            return _bounded(_BINARY[type(sign)](_number(left), _number(right)))
        case ast.Compare(left=left, ops=[sign], comparators=[right]) if type(sign) in COMPARE:
            return COMPARE[type(sign)](_number(left), _number(right))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in _FUNCTIONS:
            return _bounded(_FUNCTIONS[name](*map(_value, arguments)))
        case ast.Call(func=ast.Attribute(value=ast.Name(id="math"), attr=name), args=arguments, keywords=[]) if (
            name in _FUNCTIONS
        ):
            return _bounded(_FUNCTIONS[name](*map(_value, arguments)))
        case ast.Name(id=name) if name in _NAMES:
            return _NAMES[name]
    raise ActionError(
        f"only arithmetic is computed: numbers, + - * / // % **, comparisons and {', '.join(sorted(_FUNCTIONS))}; "
        f"found {type(node).__name__}"
    )


def _number(node: ast.expr) -> Any:
    value = _value(node)
    if not isinstance(value, (int, float)):
        raise ActionError(f"expected a number, found a {type(value).__name__}")
    return value


def _power(base: float, exponent: float) -> Any:
    if isinstance(base, int) and isinstance(exponent, int) and abs(base) > 1 and base.bit_length() * abs(exponent) > MAX_BITS:
        raise ActionError(f"the power has more than {MAX_BITS} bits")
    return _bounded(base**exponent)


def _round(value: Any, digits: int) -> Any:
    if abs(digits) > 100:  # a whole number is rounded through 10**-digits
        raise ActionError("at most 100 digits can be rounded to")
    return round(value, digits) if digits else round(value)


def _bounded(value: Any) -> Any:
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        raise ActionError(f"a number has more than {MAX_BITS} bits")
    if isinstance(value, complex):
        raise ActionError("the result is not a real number")
    return value
