"""Citation marks as people write them: one parser for all forms, and marks bound to the sentence that they close.

Divergences C4, C7 and C10 of docs/divergences.md (ScholarQABench@95e6fc52; ALCE issue 26).
"""

from __future__ import annotations

import re

import msgspec

from vivavoce.metrics.citations.sentences import body, ends_abbreviation, statements

LONGEST_RANGE = 100  # `[1-300]` is read as its two ends: no answer means three hundred passages
_ITEM = r"\^?\s*\d{1,5}(?:\s*[-\u2010-\u2015~～〜]\s*\d{1,5})?"
_JOIN = r"\s*(?:[,;，、；&]|\band\b)\s*"
_OPEN, _CLOSE = r"[\[［【〔]", r"[\]］】〕]"
MARK = re.compile(rf"{_OPEN}\s*{_ITEM}(?:{_JOIN}{_ITEM})*\s*{_CLOSE}")
_SPAN = re.compile(r"(\d+)(?:\s*[-\u2010-\u2015~～〜]\s*(\d+))?")
_EMPTY = re.compile(r"\(\s*(?:see|cf\.|e\.g\.,?)?[\s,;]*\)")  # what is left of "(see [1], [2])"
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
# A stop with its closing quotes, then marks: "claim. [0] Next", "claim.[0]", "主张。[0]".
_AFTER_STOP = re.compile(rf"((?<![.!?。！？…])[.!?。！？…]{{1,8}}[\"'”’»」』)*_]{{0,8}})([ \t]*(?:{MARK.pattern}[ \t]*)+)")


class Statement(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence without its marks, and the distinct numbers it cites in order of first mention (as written, not shifted)."""

    claim: str
    ids: tuple[int, ...]


def parse(text: str) -> list[Statement]:
    """The statements of an answer, its reference list left out; an empty answer has none."""
    found = (Statement(claim=claim(part), ids=ids(part)) for part in statements(bind(body(text))))
    return [item for item in found if any(character.isalpha() for character in item.claim)]


def ids(text: str) -> tuple[int, ...]:
    """Distinct cited numbers: `[1]`, `[1, 2]`, `[1-3]`, `[1][2]`, `[ 1; 2 ]`, `【1】`, `[１]`."""
    found: dict[int, None] = {}
    for mark in MARK.findall(text):
        for first, last in _SPAN.findall(mark):
            low, high = int(first), int(last or first)
            spread = range(low, high + 1) if low <= high <= low + LONGEST_RANGE else (low, high)
            found.update(dict.fromkeys(spread))
    return tuple(found)


def claim(text: str) -> str:
    """The text without marks, blanks collapsed, no blank before punctuation, no empty brackets."""
    bare = _EMPTY.sub("", MARK.sub("", text))
    bare = re.sub(r"\s+", " ", bare).strip()
    return re.sub(r" +([.,;:!?。，；：！？])", r"\1", bare)


def bind(text: str) -> str:
    """Move marks that follow a stop to before it, so that they stay with the sentence they close.

    They stay where they are when the stop is an abbreviation's ("Smith et al. [3]") or the line goes on in lower case
    ("It is old. [3] shows that ..."): then they belong to what follows.
    """

    def move(match: re.Match[str]) -> str:
        before, after = text[: match.start()] + match.group(1), text[match.end() : match.end() + 1]
        stop, cited = match.group(1), match.group(2)
        if after.islower() or (stop == "." and ends_abbreviation(before[-40:])):
            return match.group(0)
        gap = "" if cited.endswith((" ", "\t")) or after in ("", "\n") else " "
        return f" {cited.strip()}{stop}{' ' if cited != cited.rstrip() else gap}"

    return _AFTER_STOP.sub(move, text)


def words(text: str) -> int:
    """Words of the answer without marks, punctuation and reference list; each CJK character counts as one."""
    text = claim(body(text))
    single = len(_CJK.findall(text))
    return single + sum(any(map(str.isalnum, word)) for word in _CJK.sub(" ", text).split())
