"""The scorer: stems are memoised, a text is a string of one character per token, and C code does the counting.

`rouge-score` 0.1.2 defines the result. What is different is the representation: each stem is numbered and stands as one
character, so `str.count` counts n-grams and rapidfuzz finds the longest common subsequence of two strings. All sums are of
integers and the divisions are those of `rouge_score/rouge_scorer.py` (`_score_ngrams`, `_score_lcs`) and `scoring.fmeasure`,
in the same order, so every float is identical.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import Literal, NamedTuple

from vivavoce.metrics.rouge.porter import stem
from vivavoce.metrics.rouge.words import ascii_words, unicode_words

Variant = Literal["ascii", "unicode"]

_SURROGATES = range(0xD800, 0xE000)
_LAST_CHARACTER = 0x10FFFF
_COUNTER_PAYS = 1_000_000  # distinct n-grams x tokens; beyond, counting all n-grams once is cheaper than searching each


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
    unigrams: tuple[tuple[str, int], ...]
    bigrams: tuple[tuple[str, int], ...]


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
        bigrams = Counter(map("".join, pairwise(tokens)))
        return Reference(tokens, tuple(Counter(tokens).items()), tuple(bigrams.items()))

    def score(self, gold: Reference, answer: str) -> Scores:
        """Compare the tokens of an answer with a reference, both made by this scorer."""
        reference = gold.tokens
        answered, expected = len(answer), len(reference)
        if not answered or not expected:
            zero = Score(0.0, 0.0, 0.0)
            return Scores(zero, zero, zero)
        if len(gold.bigrams) * answered > _COUNTER_PAYS:
            ones, twos = _count_all(gold, answer)
        else:
            ones, twos = _count_each(gold, answer)
        return Scores(
            _ratios(ones, answered, expected),
            _ratios(twos, max(answered - 1, 1), max(expected - 1, 1)),
            _ratios(self._lcs(reference, answer), answered, expected),
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


def _count_each(gold: Reference, answer: str) -> tuple[int, int]:
    """Clipped unigram and bigram matches, by searching the answer for each n-gram of the gold."""
    count = answer.count
    ones = 0
    present = set()
    for token, times in gold.unigrams:
        found = count(token)
        if found:
            present.add(token)
            ones += found if found < times else times
    twos = 0
    for pair, times in gold.bigrams:
        if pair[0] in present and pair[1] in present:
            # str.count skips overlaps, which only a repeated token has.
            found = count(pair) if pair[0] != pair[1] else _repeats(answer, pair[0])
            twos += found if found < times else times
    return ones, twos


def _repeats(answer: str, token: str) -> int:
    return sum(left == right == token for left, right in pairwise(answer))


def _count_all(gold: Reference, answer: str) -> tuple[int, int]:
    """The same counts for very long pairs, by counting every n-gram of the answer once."""
    ones = Counter(answer)
    twos = Counter(map("".join, pairwise(answer)))
    return (
        sum(min(times, ones[token]) for token, times in gold.unigrams),
        sum(min(times, twos[pair]) for pair, times in gold.bigrams),
    )


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
