"""The stemmer against NLTK's, on built words, random words, and every word of a published response file."""

from __future__ import annotations

import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.stem.porter import PorterStemmer

from vivavoce.metrics.rouge.porter import _STEP_2, _STEP_3, _STEP_4, stem
from vivavoce.metrics.rouge.words import ascii_words

NLTK = PorterStemmer()
SUFFIXES = [suffix for suffix, _ in _STEP_2 + _STEP_3] + list(_STEP_4)
SUFFIXES += ["logi", "s", "es", "ies", "sses", "eed", "ed", "ied", "ing", "y", "ly", "e", "ll"]


@given(st.text(alphabet="aeiouybdlsztwx1", max_size=6), st.lists(st.sampled_from(SUFFIXES), max_size=3))
def test_built_words(root: str, suffixes: list[str]) -> None:
    word = root + "".join(suffixes)
    assert not word or stem(word) == NLTK.stem(word)


@given(st.text(alphabet=string.ascii_lowercase + string.digits, min_size=1, max_size=30))
def test_random_words(word: str) -> None:
    assert stem(word) == NLTK.stem(word)


@pytest.mark.parametrize(
    "word", ["skies", "dying", "news", "howe", "proceed", "succeed", "innings", "flies", "dies", "enjoy", "spied"]
)
def test_nltk_departures(word: str) -> None:
    assert stem(word) == NLTK.stem(word)


def test_every_word_of_a_published_file(mirror: Path) -> None:
    from python_calamine import CalamineWorkbook

    files = sorted(mirror.glob("raw.githubusercontent.com/yale-nlp/SciDQA/*/src/data_resp/mem/galactica_7b_mem.xlsx"))
    if not files:
        pytest.skip("the mirror holds no SciDQA responses")
    rows = CalamineWorkbook.from_path(str(files[0])).get_sheet_by_index(0).to_python()
    words = {word.decode() for row in rows for cell in row if isinstance(cell, str) for word in ascii_words(cell)}
    assert len(words) > 5000
    assert {word: stem(word) for word in words} == {word: NLTK.stem(word) for word in words}
