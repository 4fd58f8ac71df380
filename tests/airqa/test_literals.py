"""The literal parser reads what upstream's `eval` reads of literals, and executes nothing."""

from __future__ import annotations

import ast
import time
import warnings
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vivavoce.metrics.literals import MAX_CHARS, MAX_DEPTH, json_value, python_literal

LITERALS = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
    | st.binary(max_size=5),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner, inner) | st.sets(st.integers()),
    max_leaves=10,
)


@given(LITERALS)
@settings(deadline=None)
def test_reads_every_literal_back(value: Any) -> None:
    assert python_literal(repr(value)) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("'a', 'b'", ("a", "b")),
        ("\n  [1,  # one\n 2,]  # two", [1, 2]),
        ("set()", set()),
        ("[set ( ), {1}]", [set(), {1}]),
        ("'a' \"b\"", "ab"),
        ("[-1, +2, - 3.5e-2, .5, 1_000, 0x1f]", [-1, 2, -0.035, 0.5, 1000, 31]),
        ("['''a\n\"b''', r'\\d', \"it's\"]", ['a\n"b', "\\d", "it's"]),
        ("{'a': [1, (2,)]}", {"a": [1, (2,)]}),
        (r"['\alpha']", ["\\alpha".replace("\\a", "\a")]),
    ],
)
def test_reads(text: str, value: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert python_literal(text) == value


def test_json_names_are_read_on_request_only() -> None:
    assert python_literal("[true, false, null, -Infinity]", json_names=True) == [True, False, None, float("-inf")]
    with pytest.raises(ValueError, match="the name 'true'"):
        python_literal("[true]")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "BERT",
        "[BERT]",
        "exit()",
        "__import__('os').system('true')",
        "[__import__('math').factorial(5)]",
        "dict(a=1)",
        "set([1])",
        "1+1",
        "[1-2]",
        "'a'+'b'",
        "9**9**9",
        "'a'*10**9",
        "[x for x in (1, 2)]",
        "(lambda: 1)()",
        "f'{1}'",
        "f'{open(1)}'",
        "[1][0]",
        "[1](2)",
        "x := 1",
        "not True",
        "--1",
        "~1",
        "1 if True else 2",
        "[*[1]]",
        "{**{}}",
        "{[1]: 2}",
        "{[1]}",
        "[1",
        "'open",
        "\x00",
        "[1, 2",
        "1j + 2",
        "import os",
        "0" * 5000,
        "0x" + "f" * 5000,
    ],
)
def test_refuses(text: str) -> None:
    with pytest.raises(ValueError):
        python_literal(text, json_names=True)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1),
        "(" * 190 + ")" * 190,
        "-" * 150_000 + "1",
        "1" + "-1" * 60_000,
        "'" * 99_999,
        "'''" + "a" * 150_000,
        "'a' " * 49_000 + "'",
        "# " * 90_000,
        "\\\n" * 90_000,
        "[" + "{" * 50_000 + " " * 100_000,
        " " * (MAX_CHARS + 1),
        "set" + " " * 150_000 + "(",
        "set " * 40_000,
    ],
)
def test_hostile_texts_are_refused_at_once(text: str) -> None:
    start = time.process_time()
    for parse in (python_literal, json_value):
        with pytest.raises(ValueError):
            parse(text)
    assert time.process_time() - start < 2


def test_json_depth() -> None:
    deep = "[" * MAX_DEPTH + "]" * MAX_DEPTH
    assert json_value(deep) is not None
    assert json_value('["' + "[" * 500 + '"]') == ["[" * 500]
    with pytest.raises(ValueError, match="nested deeper"):
        json_value(f"[{deep}]")


@given(st.text(alphabet="[](){}'\"\\,:01_.eE+-rbfu#TruealsNoset \n", max_size=40))
@settings(max_examples=500, deadline=None)
def test_agrees_with_the_standard_library_on_what_it_reads(text: str) -> None:
    try:
        value = python_literal(text)
    except ValueError:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert repr(ast.literal_eval(text.strip())) == repr(value)
