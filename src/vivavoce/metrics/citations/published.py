"""Citation marks and sentences as the published script reads them, defects included.

Source: AkariAsai/ScholarQABench@95e6fc52 `citation_correctness_eval.py` L41 (marks), L54 (claims), L384 (sentences),
L393 and L543 (ids).
"""

from __future__ import annotations

import re

from vivavoce.metrics.citations.sentences import nltk_sentences

SHORTEST = 50  # characters: the script skips shorter sentences, with their citations (C7)
_MARK = re.compile(r"\[\d+(?:, ?\d+)*\]")
_OPENING = re.compile(r"\[(\d+)")
_NUMBER = re.compile(r"\d+")
_SPACES = re.compile(r"\s{2,}")


def marks(text: str) -> list[str]:
    """Each cited number as `[n]`, in order, repeats kept; ranges and other forms are not seen (L41)."""
    return [f"[{number}]" for mark in _MARK.findall(text) for number in _NUMBER.findall(mark)]


def claim(text: str) -> str:
    """The text without marks: runs of blanks become one space, blanks before `.` and `,` go (L54)."""
    bare = _SPACES.sub(" ", _MARK.sub("", text)).strip()
    return bare.replace(" .", ".").replace(" ,", ",")


def ids(text: str) -> list[int]:
    """The ids that are scored: only the first number after each `[`, whatever follows it (L393: C4)."""
    return [int(number) for number in _OPENING.findall(text)]


def cited(text: str) -> int:
    """`cited_paper_numbers` of one answer: its distinct marks."""
    return len(set(marks(text)))


def words(text: str) -> int:
    """`length` of one answer: blank-separated words without marks."""
    return len(claim(text).split())


def sentences(text: str) -> list[str]:
    """English Punkt as `nltk.sent_tokenize` splits."""
    return nltk_sentences(text)
