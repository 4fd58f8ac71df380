"""The scorer: stems are memoised, a text is a string of one character per token, and C code does the counting.

`rouge-score` 0.1.2 defines the result. What is different is the representation: each stem is numbered and stands as one
character, so that rapidfuzz finds the longest common subsequence of two strings, and the matches of n-grams, clipped, are
the common part of two sorted arrays. All sums are of integers and the divisions are those of `rouge_score/rouge_scorer.py`
(`_score_ngrams`, `_score_lcs`) and `scoring.fmeasure`, in the same order, so every float is identical.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vivavoce.metrics.rouge.porter import stem
from vivavoce.metrics.rouge.words import ascii_words, unicode_words

Variant = Literal["ascii", "unicode"]

_SURROGATES = range(0xD800, 0xE000)
_LAST_CHARACTER = 0x10FFFF
_BITS = 21  # of a character


class Score(NamedTuple):
    """Precision, recall and F-measure of one ROUGE type, 0 to 1."""

    precision: float
    recall: float
    fmeasure: float


class Scores(NamedTuple):
    """The three types of one pair."""

    rouge1: Score
    rouge2: Score
    rougeL: Score  # noqa: N815 - the name that rouge-score and the papers use


class Reference(NamedTuple):
    """A gold text, tokenised and counted once for all the answers that it is compared with."""

    tokens: str
    ordered: str  # the same tokens, sorted
    pairs: NDArray[np.int64]  # the distinct bigrams, sorted
    counts: NDArray[np.intp]  # how often each occurs


class Rouge:
    """A scorer with its own memo of stems; tokens of one scorer mean nothing to another."""

    def __init__(self, variant: Variant = "ascii") -> None:
        if variant not in ("ascii", "unicode"):
            raise ValueError(f"no ROUGE variant {variant!r}: expected ascii or unicode")
        from rapidfuzz.distance import LCSseq

        self.variant = variant
        self._words = ascii_words if variant == "ascii" else unicode_words
        self._stems = _Stems()
        self._lcs: Callable[[str, str], int] = LCSseq.similarity

    def tokens(self, text: str) -> str:
        """The stems of `text`, one character each: `len` is the number of ROUGE tokens."""
        return "".join(map(self._stems.__getitem__, self._words(text)))

    def reference(self, text: str) -> Reference:
        """Tokenise and count a gold text."""
        tokens = self.tokens(text)
        codes = _codes(tokens)
        pairs, counts = np.unique(_pairs(codes), return_counts=True)
        return Reference(tokens, _sorted(codes), pairs, counts)

    def score(self, gold: Reference, answer: str) -> Scores:
        """Compare the tokens of an answer with a reference, both made by this scorer."""
        answered, expected = len(answer), len(gold.tokens)
        if not answered or not expected:
            zero = Score(0.0, 0.0, 0.0)
            return Scores(zero, zero, zero)
        codes = _codes(answer)
        return Scores(
            # Of two sorted sequences, the longest common subsequence is all that they share: the clipped unigram matches.
            _ratios(self._lcs(gold.ordered, _sorted(codes)), answered, expected),
            _ratios(_shared(gold, _pairs(codes)), max(answered - 1, 1), max(expected - 1, 1)),
            _ratios(self._lcs(gold.tokens, answer), answered, expected),
        )

    def compare(self, gold: str, answer: str) -> Scores:
        """Score two texts; where a gold meets many answers, make its `reference` once instead."""
        return self.score(self.reference(gold), self.tokens(answer))


def _ratios(matches: int, answered: int, expected: int) -> Score:
    precision = matches / answered
    recall = matches / expected
    if precision + recall > 0:
        return Score(precision, recall, 2 * precision * recall / (precision + recall))
    return Score(precision, recall, 0.0)


def _codes(tokens: str) -> NDArray[np.uint32]:
    return np.frombuffer(tokens.encode("utf-32-le"), np.uint32)


def _sorted(codes: NDArray[np.uint32]) -> str:
    return np.sort(codes).tobytes().decode("utf-32-le")


def _pairs(codes: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Bigrams as numbers."""
    wide = codes.astype(np.int64)
    return (wide[:-1] << _BITS) | wide[1:]


def _shared(gold: Reference, pairs: NDArray[np.int64]) -> int:
    """Clipped bigram matches."""
    if not gold.pairs.size:
        return 0
    places = gold.pairs.searchsorted(pairs)
    places[places == gold.pairs.size] = 0
    found = np.bincount(places[gold.pairs[places] == pairs], minlength=gold.pairs.size)
    return int(np.minimum(found, gold.counts).sum())


class _Stems(dict[bytes, str]):
    """Word -> the character that stands for its stem."""

    def __init__(self) -> None:
        super().__init__()
        self._characters: dict[str, str] = {}
        self._next = 0

    def __missing__(self, word: bytes) -> str:
        text = word.decode("utf-8")
        if len(word) > 3 and word.isascii():  # rouge_score/tokenize.py: shorter words stay as they are
            text = stem(text)
        character = self[word] = self._characters.get(text) or self._character(text)
        return character

    def _character(self, text: str) -> str:
        self._next += 1
        if self._next in _SURROGATES:
            self._next = _SURROGATES.stop
        if self._next > _LAST_CHARACTER:
            raise OverflowError("over a million distinct stems in one scorer: make a new Rouge for every few files")
        character = self._characters[text] = chr(self._next)
        return character
