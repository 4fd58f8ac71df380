"""Reads Python and JSON literals out of text that nobody vouches for: nothing is executed, size and depth are bounded.

Where upstream calls `eval` on a model's output (OpenDFM/NeuSym-RAG@596e644e, evaluation/match_functions.py:119 and 143), this
reads the same texts as long as they are literals, and refuses names, calls, operators, comprehensions and formatted strings.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from typing import Any

MAX_CHARS = 200_000
MAX_DEPTH = 64
MAX_DIGITS = 1_000

_TOKEN = re.compile(
    r"""(?P<blank>[ \t\f\r\n]+|\#[^\n]*|\\\r?\n)
    |(?P<string>(?:[rRbBuU]|[rR][bB]|[bB][rR])?
        (?:'''(?:[^\\]|\\.)*?'''|\"\"\"(?:[^\\]|\\.)*?\"\"\"|'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"))
    |(?P<number>(?:\d|\.\d)(?:[eE][+-]|[\w.])*)
    |(?P<name>[^\W\d]\w*)
    |(?P<open>[(\[{])
    |(?P<close>[)\]}])
    |(?P<sign>[+-])
    |(?P<comma>[,:])""",
    re.VERBOSE | re.DOTALL,
)
_CONSTANTS = {"True": "True", "False": "False", "None": "None"}
_JSON_CONSTANTS = {
    "true": "True",
    "false": "False",
    "null": "None",
    "NaN": '"nan"',
    "nan": '"nan"',
    "Infinity": "1e999",
    "inf": "1e999",
}


def python_literal(text: str, *, json_names: bool = False) -> Any:
    """The value of a Python literal: strings, numbers, booleans, None, lists, tuples, dicts, sets, nested up to MAX_DEPTH.

    `json_names` also takes JSON's true, false, null, and infinities (NaN comes as the string "nan"). Raises ValueError for
    everything else: longer than MAX_CHARS, nested deeper, or holding anything that would have to be executed.
    """
    source = _checked(text, json_names)
    try:
        if "\\" not in source:
            return ast.literal_eval(source)
        with warnings.catch_warnings():  # an unknown escape such as "\alpha" is kept as it is, without a warning
            warnings.simplefilter("ignore")
            return ast.literal_eval(source)
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError) as error:
        raise ValueError(f"not a Python literal: {error}") from None


def json_value(text: str) -> Any:
    """The value of a JSON text (NaN and infinities allowed, as `json.loads` does). Raises ValueError, also for its bounds."""
    if len(text) > MAX_CHARS:
        raise ValueError(f"longer than {MAX_CHARS} characters")
    if text.count("[") + text.count("{") > MAX_DEPTH:
        _check_json_depth(text)
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError(f"nested deeper than {MAX_DEPTH}") from None


def _checked(text: str, json_names: bool) -> str:
    """The text, its names replaced, when it holds only tokens that a literal may hold."""
    if len(text) > MAX_CHARS:
        raise ValueError(f"longer than {MAX_CHARS} characters")
    parts: list[str] = []
    position = depth = 0
    after_value = False  # a sign after a value would be an operator
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise ValueError(f"not a literal at character {position}")
        kind, token, position = match.lastgroup, match.group(), match.end()
        if kind == "open":
            depth += 1
            if depth > MAX_DEPTH:
                raise ValueError(f"nested deeper than {MAX_DEPTH}")
            if after_value:
                raise ValueError("a call or an index is not a literal")
        elif kind == "close":
            depth -= 1
        elif kind == "number" and len(token) > MAX_DIGITS:
            raise ValueError(f"a number of more than {MAX_DIGITS} characters")
        elif kind == "sign" and after_value:
            raise ValueError("an operator is not a literal")
        elif kind == "name":
            token = _constant(token, json_names, text, position)
            if token == "set()":  # noqa: S105 - the empty set, no password
                position = text.index(")", position) + 1
        if kind != "blank":
            after_value = kind in ("string", "number", "name", "close")
        parts.append(token)
    return "".join(parts).strip()


def _constant(name: str, json_names: bool, text: str, end: int) -> str:
    if name in _CONSTANTS:
        return name
    if json_names and name in _JSON_CONSTANTS:
        return _JSON_CONSTANTS[name]
    if name == "set" and re.match(r"\s{0,9}\(\s{0,9}\)", text[end : end + 20]):
        return "set()"
    raise ValueError(f"the name {name[:40]!r} is not a literal")


def _check_json_depth(text: str) -> None:
    depth = 0
    for token in re.finditer(r'"(?:[^"\\]|\\.)*"|([\[{])|([\]}])', text, re.DOTALL):
        depth += bool(token[1]) - bool(token[2])
        if depth > MAX_DEPTH:
            raise ValueError(f"nested deeper than {MAX_DEPTH}")
