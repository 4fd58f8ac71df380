"""The `corrected` profile: what it accepts and refuses, and what holds for every answer."""

from __future__ import annotations

import json
import math
import time
import unicodedata
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vivavoce.metrics.airqa.corrected import FUNCTIONS
from vivavoce.metrics.airqa.logic import UnscoredError, score_corrected, score_published
from vivavoce.metrics.airqa.matching import pairs
from vivavoce.metrics.airqa.normal import boolean, mapping, normal, number, sequence


def score(function: str, pred: Any, **kwargs: Any) -> float:
    """The score of a judge-free evaluator."""
    with pytest.raises(StopIteration) as end:
        next(score_corrected({"eval_func": f"eval_{function}", "eval_kwargs": kwargs}, pred))
    return float(end.value.value)


ACCEPTED = [
    ("string_exact_match", "```txt\nItalian\n```", {"gold": "Italian"}),
    ("string_exact_match", '"Italian".', {"gold": "Italian"}),
    ("string_exact_match", "“Italian”", {"gold": "Italian"}),
    ("string_exact_match", "pre-training", {"gold": "pre‑training"}),
    ("string_exact_match", unicodedata.normalize("NFD", "Université"), {"gold": "Université"}),
    ("string_exact_match", r'"caf\u00e9"', {"gold": "café"}),
    ("string_exact_match", "BART", {"gold": ["BART"]}),
    ("string_exact_match", "['BART']", {"gold": ["BART"]}),
    ("string_exact_match", "longbench", {"gold": "LongBench", "ignore_case": True}),
    ("string_exact_match", "flickr", {"gold": "Flickr", "lowercase": "true"}),
    ("int_exact_match", "1,234", {"gold": 1234}),
    ("int_exact_match", "42.0", {"gold": 42}),
    ("int_exact_match", "−3", {"gold": -3}),
    ("int_exact_match", "```json\n42\n```", {"gold": 42}),
    ("float_exact_match", "45%", {"gold": 45.0}),
    ("float_exact_match", "$5", {"gold": 5.0}),
    ("float_exact_match", "€ 1,234.5", {"gold": 1234.5, "ndigits": 1}),
    ("float_exact_match", "1e-9", {"gold": 0.0}),
    ("float_exact_match", "2463.5", {"gold": "2463.5", "ndigits": 1}),
    ("float_exact_match", "0.0351", {"gold": 0.035, "nidigits": 3, "tolerance": 1e-4}),
    ("float_exact_match", "2.675", {"gold": 2.68, "ndigits": 2}),
    ("bool_exact_match", " True. ", {"gold": True}),
    ("bool_exact_match", "No", {"gold": False}),
    ("bool_exact_match", "false", {"gold": "false"}),
    ("structured_object_exact_match", "[true, null, 1]", {"gold": [True, None, 1]}),
    ("structured_object_exact_match", "['True', 'None', 1.0]", {"gold": [True, None, 1]}),
    ("structured_object_exact_match", "[Wikipedia, CCNet]", {"gold": ["Wikipedia", "CCNet"]}),
    (
        "structured_object_exact_match",
        "['ALPHA', 'zeta']",
        {"gold": ["Zeta", "alpha"], "ignore_order": True, "lowercase": True},
    ),
    ("structured_object_exact_match", "[['d','a'],['b','c']]", {"gold": [["a", "d"], ["c", "b"]], "ignore_order": True}),
    ("structured_object_exact_match", "[−5, 45%]", {"gold": [-5, 45.0]}),
    ("structured_object_exact_match", '["1,234", "45%"]', {"gold": [1234, 45.0]}),
    ("structured_object_exact_match", "{“a ”: “x”}", {"gold": {"a": "x"}}),
    ("structured_object_exact_match", "{1: 'x'}", {"gold": {"1": "x"}, "lowercase": True}),
    ("structured_object_exact_match", '"[1, 2]"', {"gold": [1, 2]}),
    ("element_included", "['PICARD']", {"gold": ["PICARD", "T5"]}),
    ("element_list_included", '["a"]', {"gold": ["a", "b"]}),
    ("element_list_overlap", "['a', 'b', 'z']", {"gold": ["a", "b"], "count": 2}),
    ("paper_relevance_with_reference_answer", "```\nToolLLM \n```", {"question": "q", "reference_answer": "ToolLLM"}),
    ("string_fuzzy_match", "Compassion Fade", {"gold": "Compassion Fade (Naming)", "fuzz_method": "partial_ratio"}),
    ("negation", "['x']", {"eval_func": "eval_element_list_overlap", "eval_kwargs": {"gold": ["y"]}}),
]
REFUSED = [
    ("int_exact_match", "3.7", {"gold": 3}),
    ("int_exact_match", 3.7, {"gold": 3}),
    ("int_exact_match", "True", {"gold": 1}),
    ("int_exact_match", True, {"gold": 1}),
    ("int_exact_match", "1,23", {"gold": 123}),
    ("float_exact_match", "0.001", {"gold": 0.0}),
    ("float_exact_match", "about 17.5", {"gold": 17.5}),
    ("float_exact_match", "True", {"gold": 1.0}),
    ("bool_exact_match", "true or false", {"gold": True}),
    ("bool_exact_match", "true or false", {"gold": False}),
    ("bool_exact_match", "None", {"gold": False}),
    ("structured_object_exact_match", "[1, 0]", {"gold": [1.5, 0]}),
    ("structured_object_exact_match", "[2.9]", {"gold": [2]}),
    ("structured_object_exact_match", "['a', 'a']", {"gold": ["a", "b"], "ignore_order": True}),
    ("structured_object_exact_match", "['very', 'wrong']", {"gold": ["sequence", "channels"], "threshold": 0.9}),
    ("structured_object_exact_match", "[__import__('os').getcwd()]", {"gold": ["x"]}),
    ("element_list_included", "[]", {"gold": ["a", "b"]}),
    ("element_list_included", "set()", {"gold": ["a", "b"]}),
    ("element_list_overlap", "['a', 'A']", {"gold": ["a", "b"], "count": 2, "lowercase": True}),
    ("element_included", "P", {"gold": "PICARD"}),
    ("string_fuzzy_match", "C", {"gold": "Compassion Fade (Naming)", "fuzz_method": "partial_ratio"}),
    ("negation", "garbage", {"eval_func": "eval_structured_object_exact_match", "eval_kwargs": {"gold": [1]}}),
    ("negation", "", {"eval_func": "eval_string_exact_match", "eval_kwargs": {"gold": "a"}}),
    ("negation", "forty", {"eval_func": "eval_int_exact_match", "eval_kwargs": {"gold": 3}}),
]
TWO = {
    "eval_func_list": ["eval_string_exact_match", "eval_int_exact_match"],
    "eval_kwargs_list": [{"gold": "BERT", "lowercase": True}, {"gold": 3}],
}


@pytest.mark.parametrize(("function", "pred", "kwargs"), ACCEPTED)
def test_accepts(function: str, pred: Any, kwargs: dict[str, Any]) -> None:
    assert score(function, pred, **kwargs) == 1.0


@pytest.mark.parametrize(("function", "pred", "kwargs"), REFUSED)
def test_refuses(function: str, pred: Any, kwargs: dict[str, Any]) -> None:
    assert score(function, pred, **kwargs) == 0.0


def test_disjunction_takes_one_answer_or_a_list_of_one_for_each() -> None:
    assert score("disjunction", "bert", **TWO) == 1.0
    assert score("disjunction", "3", **TWO) == 1.0
    assert score("disjunction", "['bert', 9]", **TWO) == 1.0
    assert score("disjunction", "['x', 9]", **TWO) == 0.0
    assert score("disjunction", "gpt", **TWO) == 0.0


def test_conjunction_reads_json_and_fences() -> None:
    assert score("conjunction", '```json\n["bert", 3.0]\n```', **TWO) == 1.0
    assert score("conjunction", "['bert']", **TWO) == 0.0
    assert score("conjunction", "bert", **TWO) == 0.0


def test_negation_of_a_conjunction_rewards_no_malformed_answer() -> None:
    negation = {"eval_func": "eval_conjunction", "eval_kwargs": TWO}
    assert score("negation", "['gpt', 3]", **negation) == 1.0
    assert score("negation", "['bert', 3]", **negation) == 0.0
    assert score("negation", "gpt", **negation) == 0.0


def test_a_broken_evaluator_is_unscored_not_wrong() -> None:
    for function, kwargs in (("eval_of_tomorrow", {}), ("eval_int_exact_match", {}), ("eval_reference_answer_with_llm", {})):
        with pytest.raises(UnscoredError, match="broken"):
            next(score_corrected({"eval_func": function, "eval_kwargs": kwargs}, "x"))


def test_numbers() -> None:
    assert number("12 345") == 12345
    assert number("-$5") == -5
    assert number("٤٢") == 42
    assert number("1e3") == 1000
    assert [number(text) for text in ("--5", "1,23", "4_2", "", "5 ms", "1e99999", "[5]")] == [None] * 7
    assert number(True) is None
    assert number("1e999") is not None  # does not overflow, and compares
    assert score("float_exact_match", "1e999", gold=1.0) == 0.0


TEXT = st.text(max_size=40)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), TEXT)
KEYS = st.text(min_size=1, max_size=8)
GOLDS = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=8
)
OPTIONS = st.fixed_dictionaries(
    {}, optional={"lowercase": st.booleans(), "ignore_blank": st.booleans(), "ignore_order": st.booleans()}
)


@given(GOLDS, OPTIONS)
@settings(max_examples=150, deadline=None)
def test_the_gold_as_text_is_always_right(gold: Any, options: dict[str, bool]) -> None:
    assert score("structured_object_exact_match", str(gold), gold=gold, **options) == 1.0
    assert score("structured_object_exact_match", gold, gold=gold, **options) == 1.0


@given(
    st.one_of(st.booleans(), st.integers(), TEXT.filter(str.strip), st.lists(st.booleans() | st.integers() | TEXT, max_size=4))
)
@settings(max_examples=150, deadline=None)
def test_the_gold_as_json_is_always_right(gold: Any) -> None:
    assert score("structured_object_exact_match", json.dumps(gold), gold=gold) == 1.0


@given(
    st.lists(TEXT | st.integers(), min_size=1, max_size=6), st.lists(TEXT | st.integers(), min_size=1, max_size=6), st.data()
)
@settings(max_examples=100, deadline=None)
def test_order_makes_no_difference_where_it_is_ignored(left: list[Any], right: list[Any], data: st.DataObject) -> None:
    def same(pred: list[Any], gold: list[Any]) -> float:
        return score("structured_object_exact_match", str(pred), gold=gold, ignore_order=True, lowercase=True)

    shuffled, gold = data.draw(st.permutations(left)), data.draw(st.permutations(right))
    assert same(shuffled, left) == 1.0
    assert same(left, right) == same(shuffled, gold) == same(left, gold)


@given(st.one_of(TEXT, st.text(alphabet="\"'`.,;:!?…。 a\\n\u0301\u2212\n", max_size=30)))
@settings(max_examples=300, deadline=None)
def test_normalisation_is_idempotent(text: str) -> None:
    assert normal(normal(text)) == normal(text)


@given(st.text(alphabet="[](){}'\",:0123456789.eE+-%$ \n`\\truefalsnN", max_size=60) | st.text(max_size=60), GOLDS)
@settings(max_examples=150, deadline=None)
def test_no_answer_raises(text: str, gold: Any) -> None:
    number(text), boolean(text), sequence(text), mapping(text)
    for function in FUNCTIONS:
        kwargs = {"gold": gold, "question": "q", "reference_answer": str(gold)}
        for scoring in (score_corrected, score_published):
            with pytest.raises(StopIteration) as end:
                next(scoring({"eval_func": function, "eval_kwargs": kwargs}, text))
            assert end.value.value in (0.0, 1.0)


@given(st.lists(st.lists(st.booleans(), min_size=4, max_size=4), min_size=4, max_size=4))
def test_pairing_is_the_largest_possible(table: list[list[bool]]) -> None:
    from itertools import permutations

    best = max(sum(table[i][j] for i, j in enumerate(order)) for order in permutations(range(4)))
    assert pairs(range(4), range(4), lambda i, j: table[i][j]) == best


def test_nan_equals_only_itself() -> None:
    assert score("float_exact_match", "nan", gold=math.nan) == 1.0
    assert score("float_exact_match", "nan", gold=1.0) == 0.0
    assert score("float_exact_match", "1", gold=math.nan) == 0.0


@pytest.mark.parametrize(
    "text",
    [
        "```" + " " * 60_000 + "a```",
        "```\n" * 7_000 + "\n```" * 7_000,
        "." * 60_000,
        '".' * 30_000,
        '"' + "\\" * 60_000 + '"',
        "1,111" * 10_000,
        "[" + "a," * 30_000 + "]",
        "(" * 60_000,
        "\u0301" * 60_000,
    ],
)
def test_a_hostile_answer_costs_little(text: str) -> None:
    start = time.process_time()
    for gold in ("x", 1.5, True, ["x", "y"], {"a": 1}):
        assert score("structured_object_exact_match", text, gold=gold, ignore_order=True, threshold=90) == 0.0
    assert time.process_time() - start < 5
