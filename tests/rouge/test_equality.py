"""The fast scorer against rouge-score itself: every float must be identical, whatever the text."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from vivavoce.metrics.rouge import Rouge

TYPES = ["rouge1", "rouge2", "rougeL"]
SLOW = RougeScorer(TYPES, use_stemmer=True)
FAST = Rouge()
WORDS = [
    "the",
    "models",
    "training",
    "Trained",
    "a",
    "7b",
    "caffè",
    "naïve",
    "模型",
    "β",
    "generalization",
    "ties",
    "K",
    "_",
    "x²",
]


def same(gold: str, answer: str) -> None:
    expected = SLOW.score(gold, answer)
    assert FAST.compare(gold, answer) == tuple(tuple(expected[name]) for name in TYPES)


@given(st.text(max_size=200), st.text(max_size=200))
def test_random_unicode(gold: str, answer: str) -> None:
    same(gold, answer)


@given(st.lists(st.sampled_from(WORDS), max_size=60), st.lists(st.sampled_from(WORDS), max_size=60))
def test_texts_that_overlap_much(gold: list[str], answer: list[str]) -> None:
    same(" ".join(gold), ", ".join(answer))


@given(st.text(alphabet="ab \n", max_size=80), st.text(alphabet="ab \n", max_size=80))
def test_repeated_tokens(gold: str, answer: str) -> None:
    same(gold, answer)


@pytest.mark.parametrize(
    ("gold", "answer"),
    [("", ""), ("", "a"), ("a", ""), ("?", "!"), ("a", "a"), ("a a a", "a a"), ("aa aa", "aa"), ("\ud800 x", "x \U0001f600")],
)
def test_short_and_empty(gold: str, answer: str) -> None:
    same(gold, answer)


@settings(max_examples=3, deadline=None)
@given(st.integers(0, 10_000))
def test_long_texts(seed: int) -> None:
    draw = random.Random(seed)
    vocabulary = [f"word{draw.randrange(400)}ing" for _ in range(400)]
    same(" ".join(draw.choices(vocabulary, k=1200)), " ".join(draw.choices(vocabulary, k=1500)))


def test_a_book_against_a_book_takes_seconds_not_hours() -> None:
    draw = random.Random(9)
    book = " ".join(f"w{draw.randrange(30_000)}" for _ in range(100_000))
    start = time.process_time()
    scores = FAST.compare(book, book)
    assert scores.rougeL.fmeasure == 1.0
    assert time.process_time() - start < 20


def test_five_thousand_published_pairs(mirror: Path) -> None:
    """Full texts of all pairs are compared in benchmarks/rouge_speed.py; here its quadratic time bounds the length."""
    from python_calamine import CalamineWorkbook

    files = sorted(mirror.glob("raw.githubusercontent.com/yale-nlp/SciDQA/*/src/data_resp/*/*.xlsx"))
    if not files:
        pytest.skip("the mirror holds no SciDQA responses")
    draw = random.Random(4)
    for path in files[:: max(1, len(files) // 10)][:10]:
        header, *rows = CalamineWorkbook.from_path(str(path)).get_sheet_by_index(0).to_python()
        gold, answer = header.index("ans"), next(i for i, name in enumerate(header) if str(name).endswith("_ans"))
        for number, row in enumerate(draw.sample(rows, 500)):
            length = None if number < 3 else 200
            same(str(row[gold])[:length], str(row[answer])[:length])
