"""How the offline baseline picks numbers, names and formulas out of sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence

from vivavoce.models.extractive_text import Sentence, words

_NUMBER = re.compile(r"(?<![\w.\[-])[-\u2212]?\d+(?:,\d{3})*(?:\.\d+)?(?![\w\]]|\.\d)")
_NAME = re.compile(r"\b[A-Z][\w\u00c0-\u024f-]*(?:[ -](?:(?:of|for|and|the|de|van)\s)?[A-Z0-9][\w\u00c0-\u024f-]*)*")
_QUOTED = re.compile(r"[\"\u201c]([^\"\u201d]{2,60})[\"\u201d]")
_OPENING_WORDS = (
    "the a an we our in this these those it its for as to on at with by from after before when while if since both each all "
    "table figure section equation abstract here however thus then there they no not and but of most many some using one two "
    "three"
)
_OPENERS = frozenset(_OPENING_WORDS.split())
_COUNTED = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
WORD_NUMBERS = {name: value for value, name in enumerate(_COUNTED)}


def numbers(question: str, text: str, *, decimals: bool = False) -> list[float]:
    """The numbers of a sentence that the question does not name, nearest to its words first (with decimals first, if asked)."""
    named = {match.group().replace(",", "") for match in _NUMBER.finditer(question)}
    wanted = set(words(question))
    places = [match.start() for match in re.finditer(r"\w+", text) if set(words(match[0])) & wanted]
    found: list[tuple[bool, int, int, float]] = []
    for match in _NUMBER.finditer(text):
        plain = match.group().replace(",", "").replace("\u2212", "-")
        if plain in named or re.search(r"(?:table|figure|fig\.|section|equation)\s*\(?$", text[: match.start()], re.I):
            continue
        gap = min((abs(place - match.start()) for place in places), default=0)
        found.append((decimals and "." not in plain, gap, match.start(), float(plain)))
    for match in re.finditer(r"\b[a-z]+\b", text.lower()):
        if match[0] in WORD_NUMBERS and not decimals and match[0] != "one":
            gap = min((abs(place - match.start()) for place in places), default=0)
            found.append((False, gap + 5, match.start(), float(WORD_NUMBERS[match[0]])))
    return [value for _, _, _, value in sorted(found)]


def names(question: str, ranked: Sequence[Sentence], most: int = 8) -> list[str]:
    """Names in the best sentences that the question does not name: quoted or capitalised words, nearest first."""
    asked = set(words(question))
    found: list[tuple[float, int, str]] = []
    for place, sentence in enumerate(ranked[:5]):
        text = sentence.text
        spans = [(match.start(), match[1]) for match in _QUOTED.finditer(text)]
        spans += [(match.start(), match[0]) for match in _NAME.finditer(text)]
        if ";" in text:  # the first cell of a table's row names it
            spans.append((0, text.split(";")[0].strip()))
        for start, span in spans:
            content = set(words(span))
            if not content or content <= asked or span.lower() in _OPENERS or len(span) > 80:
                continue
            opening = start == 0 and " " not in span and span[1:].islower()
            found.append((place + (2 if opening else 0) + 0.5 * len(content & asked), start, span.strip()))
    return list(dict.fromkeys(span for _, _, span in sorted(found)))[:most]


def formulas(ranked: Sequence[Sentence]) -> list[str]:
    """Stretches of text around an equals sign, as they stand."""
    found = []
    for sentence in ranked:
        for match in re.finditer(r"[^\s,;:.()=]{1,40}(?:\([^)]*\))?\s*=\s*[^,;=]{1,120}", sentence.text):
            found.append(match[0].strip().rstrip("."))
    return found
