"""Recursive splitting: nothing is lost, nothing is too long."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vivavoce.corpus.chunks import count_words, split

TEXT = st.text(alphabet="ab. \n", max_size=400)


def test_the_coarsest_separator_that_fits_is_used() -> None:
    assert split("one two\n\nthree four", 10) == ["one two", "three four"]
    assert split("one two\n\nthree four", 30) == ["one two\n\nthree four"]
    assert split("one two\nthree four", 10) == ["one two", "three four"]
    assert split("abcdefghijklmnopqrstuvwxyz", 10) == ["abcdefghij", "klmnopqrst", "uvwxyz"]


def test_overlap_repeats_whole_words() -> None:
    assert split("a b c d e f", 5, overlap=3) == ["a b c", "b c d", "c d e", "d e f"]


def test_tokens_count_words_and_marks() -> None:
    assert count_words("It costs 3.5, no?") == 8
    assert split("one two three four five", 2, length=count_words) == ["one two", "three four", "five"]


@given(TEXT, st.integers(1, 60))
def test_every_chunk_fits_and_no_letter_is_lost(text: str, size: int) -> None:
    chunks = split(text, size)
    assert all(0 < len(chunk) <= size for chunk in chunks)
    assert "".join("".join(chunks).split()) == "".join(text.split())


@given(TEXT, st.integers(2, 60), st.data())
def test_overlapping_chunks_fit_too(text: str, size: int, data: st.DataObject) -> None:
    overlap = data.draw(st.integers(0, size - 1))
    chunks = split(text, size, overlap=overlap)
    assert all(0 < len(chunk) <= size for chunk in chunks)
    assert set("".join(chunks)) >= set(text) - {" ", "\n"}


@pytest.mark.parametrize(("size", "overlap"), [(0, 0), (5, 5), (5, -1)])
def test_impossible_sizes_are_refused(size: int, overlap: int) -> None:
    with pytest.raises(ValueError, match="overlap"):
        split("text", size, overlap=overlap)


def test_nothing_is_lost_between_overlapping_chunks() -> None:
    assert split("aaaaaa. a", 8, overlap=7) == ["aaaaaa.", "a"]
    assert split("one two three four", 9, overlap=4) == ["one two", "two three", "four"]
