"""One-word answers: accuracy as published (substring) and by one extracted label, and SQuAD exact match and token F1.

Source: AkariAsai/ScholarQABench@95e6fc52 `citation_correctness_eval.py` L73 (normalisation), L274 (match);
Rajpurkar et al. 2016 for exact match and token F1. Divergence C3 of docs/divergences.md.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence

import msgspec

from vivavoce.metrics.citations import corrected, published

# Words that say a label; the first is the label itself.
SYNONYMS = {
    "true": ("true", "supported", "supports"),
    "false": ("false", "untrue", "refuted", "refutes", "contradicted", "contradicts"),
    "yes": ("yes",),
    "no": ("no",),
}
_PREFIX = re.compile(r"^(?:\W|\[response_start\]|(?:the |final |my )*(?:answer|verdict|label|conclusion)\b(?:\s+is\b)?)+")
_SUBJECT = r"\b(?:answer|claim|statement|verdict|label|conclusion|question|it|this)\b"
_DECLARED = rf"{_SUBJECT}[^.;\n]{{0,30}}?(?:\b(?:is|be|are)\b|[:=])\s*"
_END = r"(?=\s*(?:[^\w\s]|$))"  # a clause ends here


class Label(msgspec.Struct, frozen=True, kw_only=True):
    """The one label that an answer gives, or None and why: `abstained` (none) or `ambiguous` (several)."""

    label: str | None
    reason: str = ""


def published_match(answer: str, gold: str) -> bool:
    """`--match` (L287): the gold label is a substring of the answer, citations removed from both, case ignored."""
    return published.claim(gold).lower() in published.claim(answer).lower()


def extract_label(answer: str, labels: Sequence[str]) -> Label:
    """The label that an answer commits to.

    In this order: the word it begins with; what it declares ("the claim is not true"); the only label in it. A label that
    another follows at once ("true or false") is none. "yes" and "no" in running text count only where a clause ends ("no
    evidence" is no answer). Citations and Markdown are ignored; words count whole ("untrue" is not "true").
    """
    spoken = {word: label for label in labels for word in SYNONYMS.get(label, (label,))}
    word = "|".join(sorted(map(re.escape, spoken), key=len, reverse=True))
    text = re.sub(r"[*_`#]+", "", corrected.claim(answer)).strip().lower()
    if re.search(rf"\b({word})\b(?:\s*[,;/|&]|\s+(?:and|or|nor|but)\b)+\s*\b(?!\1\b)({word})\b{_END}", text):
        return Label(label=None, reason="ambiguous")
    first = re.match(rf"(?:{word})\b", _PREFIX.sub("", text))
    if first:
        return Label(label=spoken[first.group()])
    declared = re.findall(rf"{_DECLARED}(not\s+)?({word})\b", text)
    anywhere = re.findall(rf"\b(not\s+)?({word})\b", text)
    if set(labels) == {"yes", "no"}:
        declared = re.findall(rf"{_DECLARED}(not\s+)?({word})\b{_END}", text)
        anywhere = re.findall(rf"\b(not\s+)?({word})\b{_END}", text)
    found = {_said(spoken[said], labels, bool(negated)) for negated, said in declared or anywhere}
    if len(found) == 1:
        return Label(label=found.pop())
    return Label(label=None, reason="ambiguous" if found else "abstained")


def normalize(text: str) -> str:
    """SQuAD's normal form: lower case, without ASCII punctuation, articles and extra blanks (L73)."""
    bare = "".join(character for character in text.lower() if character not in string.punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", bare).split())


def exact_match(answer: str, gold: str) -> bool:
    """SQuAD EM: equal normal forms."""
    return normalize(answer) == normalize(gold)


def token_f1(answer: str, gold: str) -> float:
    """SQuAD token F1 in [0, 1]; where one side has no token, 1 if both have none, else 0."""
    have, want = normalize(answer).split(), normalize(gold).split()
    if not have or not want:
        return float(have == want)
    common = sum((Counter(have) & Counter(want)).values())
    return 2 * common / (len(have) + len(want))


def _said(label: str, labels: Sequence[str], negated: bool) -> str:
    """The label, or the other one of two if "not" stands before it."""
    others = [item for item in labels if item != label]
    return others[0] if negated and len(others) == 1 else label
