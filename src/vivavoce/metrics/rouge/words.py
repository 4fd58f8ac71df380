"""How a text falls into words, for both variants of ROUGE.

ASCII (`rouge_score/tokenize.py`, release 0.1.2): lower-case, every run of other characters than a-z and 0-9 separates.
Unicode: NFKC and case-folded, letters, marks and digits of every script make words; Han and kana, which are written
without spaces, are a word each. On ASCII text the two agree.
"""

from __future__ import annotations

import unicodedata
from functools import cache

_ALPHANUMERIC = b"abcdefghijklmnopqrstuvwxyz0123456789"
_TABLE = bytes(code if code in _ALPHANUMERIC else 0x20 for code in range(256))
_UNSPACED = ("CJK UNIFIED", "CJK COMPATIBILITY", "HIRAGANA", "KATAKANA", "BOPOMOFO")


class _Separators(dict[int, str]):
    """A `str.translate` table that classifies each code point when it is first met."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if unicodedata.category(character)[0] not in "LNM":
            kept = " "
        elif unicodedata.name(character, "").startswith(_UNSPACED):
            kept = f" {character} "
        else:
            kept = character
        self[code] = kept
        return kept


def ascii_words(text: str) -> list[bytes]:
    """Lower-case runs of a-z and 0-9; every other character separates, whatever it is."""
    return text.lower().encode("ascii", "replace").translate(_TABLE).split()


def unicode_words(text: str) -> list[bytes]:
    """Words of any script as UTF-8; equal to `ascii_words` on ASCII text."""
    if text.isascii():
        return ascii_words(text)
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return folded.translate(_separators()).encode("utf-8", "replace").split()


@cache
def _separators() -> _Separators:
    return _Separators()
