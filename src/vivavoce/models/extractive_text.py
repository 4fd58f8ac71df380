"""How the offline baseline finds text: words, sentences and table cells ranked by what they share with a question."""

from __future__ import annotations

import html
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from vivavoce.models.sentences import split_sentences

_STOP_WORDS = (
    "a an and any are as at be been both but by can could did do does doing each for from had has have how i if in into is it "
    "its many may more most much of on or our out over paper than that the their them then there these they this those to used "
    "uses using was we were what when where which while who why will with would according all about also"
)
_STOP = frozenset(_STOP_WORDS.split())
_WORD = re.compile(r"[^\W_]+(?:[.,]\d+)*", re.UNICODE)
_NEGATION = re.compile(
    r"\b(?:no|not|never|none|neither|nor|without|cannot|fail\w*|lack\w*|absent|unaffected|unchanged|unable)\b|n't\b", re.I
)
_ENDINGS = (
    ("ations", 5),
    ("ation", 5),
    ("ings", 4),
    ("ing", 4),
    ("ies", 3),
    ("ied", 3),
    ("ed", 4),
    ("es", 4),
    ("s", 3),
    ("e", 4),
)  # what is cut, and how many letters must stay
K1, B = 1.2, 0.75


class Sentence(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence (or table row) of a passage, with the passage's number and the score."""

    text: str
    passage: int
    score: float


def words(text: str) -> list[str]:
    """Content words, lower case, stemmed by cutting common endings; numbers without thousands separators."""
    return [_stem(word) for word in (match[0].lower() for match in _WORD.finditer(text)) if word not in _STOP]


def rank(question: str, contexts: Sequence[Mapping[str, Any]]) -> list[Sentence]:
    """All sentences of the passages by BM25 of the question's words, best first; ties by place."""
    pieces = [(text, number) for number, context in enumerate(contexts) for text in pieces_of(str(context.get("text", "")))]
    bags = [Counter(words(text)) for text, _ in pieces]
    if not pieces:
        return []
    mean = sum(sum(bag.values()) for bag in bags) / len(bags) or 1.0
    wanted = sorted(set(words(question)))
    idf = {}
    for word in wanted:
        having = sum(word in bag for bag in bags)
        idf[word] = math.log(1 + (len(bags) - having + 0.5) / (having + 0.5))
    scored = []
    for (text, number), bag in zip(pieces, bags, strict=True):
        length = K1 * (1 - B + B * sum(bag.values()) / mean)
        score = sum(idf[word] * bag[word] * (K1 + 1) / (bag[word] + length) for word in wanted if word in bag)
        scored.append(Sentence(text=text, passage=number, score=round(score, 9)))
    order = sorted(range(len(scored)), key=lambda place: (-scored[place].score, place))
    return [scored[place] for place in order]


def pieces_of(text: str) -> list[str]:
    """The sentences of prose; of an HTML table each row, its cells named by their column."""
    if "<tr" not in text.lower():
        return split_sentences(text)
    before = re.sub(r"<[^>]+>", " ", re.split(r"<table", text, flags=re.I)[0])
    rows = table_rows(text)
    named = []
    for row in rows[1:]:
        cells = [
            f"{head} {cell}" if place and head else cell for place, (head, cell) in enumerate(zip(rows[0], row, strict=False))
        ]
        named.append("; ".join(cells))
    return split_sentences(before) + named


def table_rows(text: str) -> list[list[str]]:
    """The cells of an HTML table, row by row."""
    rows = []
    for row in re.findall(r"<tr[^>]*>(.*?)</tr>", text, re.S | re.I):
        cells = re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.S | re.I)
        rows.append([html.unescape(re.sub(r"<[^>]+>", " ", cell)).strip() for cell in cells])
    return [row for row in rows if row]


def best_cell(question: str, contexts: Sequence[Mapping[str, Any]]) -> tuple[str, int] | None:
    """The table cell whose row and column names share most with the question, and its passage; None without a shared row."""
    wanted = set(words(question))
    best: tuple[float, str, int] | None = None
    for number, context in enumerate(contexts):
        rows = table_rows(str(context.get("text", "")))
        for row in rows[1:]:
            label = len(wanted & set(words(row[0]))) / (len(set(words(row[0]))) or 1)
            for head, cell in zip(rows[0][1:], row[1:], strict=False):
                column = len(wanted & set(words(head))) / (len(set(words(head))) or 1)
                if label and cell and (best is None or label * 2 + column > best[0]):
                    best = (label * 2 + column, cell, number)
    return None if best is None or best[0] < 2 else (best[1], best[2])


def coverage(question: str, sentence: str) -> float:
    """Share in 0..1 of the question's content words that a sentence has."""
    wanted = set(words(question))
    return len(wanted & set(words(sentence))) / len(wanted) if wanted else 0.0


def negated(text: str) -> bool:
    """Whether a text has an odd number of negation words."""
    return len(_NEGATION.findall(text)) % 2 == 1


def _stem(word: str) -> str:
    if word[0].isdigit():
        return word.replace(",", "")
    for ending, least in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= least:
            return word[: -len(ending)]
    return word
