"""Splitting text into sentences by rule, without a model: for lead passages and for the extractive baseline."""

from __future__ import annotations

import re

_ABBREVIATIONS = frozenset(("e.g", "i.e", "al", "cf", "vs", "etc", "fig", "figs", "eq", "eqs", "sec", "sect", "tab", "no"))
_TITLES = frozenset(("dr", "prof", "approx", "resp", "ref", "refs", "st", "mr", "mrs", "ms"))
_END = re.compile(r"[.!?][\"')\]]*\s+(?=[\"'(\[]?[A-Z0-9])")


def split_sentences(text: str) -> list[str]:
    """The sentences of a text, blanks tidied; ends are . ! ? before a capital or a digit, except after usual abbreviations."""
    tidy = re.sub(r"\s+", " ", text).strip()
    sentences, start = [], 0
    for match in _END.finditer(tidy):
        word = tidy[start : match.start()].rpartition(" ")[2].strip("([\"'").lower()
        if tidy[match.start()] == "." and (word in _ABBREVIATIONS | _TITLES or (len(word) == 1 and word.isalpha())):
            continue
        sentences.append(tidy[start : match.end()].strip())
        start = match.end()
    if tidy[start:].strip():
        sentences.append(tidy[start:].strip())
    return sentences


def first_sentences(text: str, count: int) -> str:
    """The first `count` sentences of a text."""
    return " ".join(split_sentences(text)[:count])
