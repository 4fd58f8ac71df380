"""ScholarQA-CS rubrics: how judge replies become an answer's score, as published and corrected. Pure functions.

Sources: Asai et al. 2024 (OpenScholar), section on ScholarQA-CS; AkariAsai/ScholarQABench@95e6fc52 `scholarqacs_rubric.py` (L35
length, L50 criteria, L75 evidence, L102 citations and excerpts, L168 weights, L195 score) and `run_utils.py` L10 (JSON).
What is corrected, and why, stands in docs/divergences.md (R1 to R14).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from vivavoce.errors import DataError

GENERAL = ("length", "expertise", "citations", "excerpts")
TOLERANCE = 1e-6


class Property(msgspec.Struct, frozen=True, kw_only=True):
    """One item of a rubric: its criterion, its weight (properties sum to 0.6) and the snippets that support it."""

    name: str
    criterion: str
    weight: float
    evidence: tuple[str, ...] = ()


class Rubric(msgspec.Struct, frozen=True, kw_only=True):
    """The rubric that one expert wrote for one question."""

    case_id: str
    annotator: str
    question: str
    low_length: int
    high_length: int
    weights: dict[str, float]  # of GENERAL
    properties: tuple[Property, ...]


def rubric(entry: Mapping[str, Any]) -> Rubric:
    """A rubric from `{case_id, annotator, config}` as published; DataError if a part is missing or weights do not sum to 1."""
    try:
        config = entry["config"]
        made = Rubric(
            case_id=str(entry["case_id"]),
            annotator=str(entry.get("annotator", "")),
            question=config["question"],
            low_length=config["low_length"],
            high_length=config["high_length"],
            weights={name: float(config[f"{name}_weight"]) for name in GENERAL},
            properties=tuple(
                Property(name=p["name"], criterion=p["criterion"], weight=p["weight"], evidence=tuple(p.get("evidence") or ()))
                for p in config["other_properties"]
            ),
        )
    except (KeyError, TypeError) as error:
        raise DataError(
            f"rubric {entry.get('case_id')}: missing or ill-typed {error}. Expected a published rubric config."
        ) from None
    total = sum(made.weights.values()) + sum(item.weight for item in made.properties)
    if abs(total - 1) >= TOLERANCE:
        raise DataError(f"rubric {made.case_id}: its weights sum to {total}; expected 1.")
    return made


# ---------------------------------------------------------------- as published


class PublishedStopError(Exception):
    """Upstream's script ends here with an exception: it has no value for the answer, and none for any later one."""


def published_json(reply: str) -> Any:
    """Upstream's reading of a JSON reply: from the first brace to the last, `]}` appended where that fails; else None."""
    part = reply[reply.find("{") : reply.rfind("}") + 1]
    for attempt in (part, part + "]}"):
        try:
            return json.loads(attempt)
        except (ValueError, RecursionError):
            continue
    return None


def published_share(reply: str, full: int) -> float:
    """`score` of a reply over `full` (10 for a criterion), unclamped; 0 without JSON, PublishedStopError without a number."""
    found = published_json(reply)
    if not found:
        return 0.0
    try:
        return float(found["score"] / full)
    except (KeyError, TypeError, OverflowError) as error:
        raise PublishedStopError(f"upstream stops with {type(error).__name__} at the reply {reply[:60]!r}") from None


def published_evidence(reply: str, snippets: int) -> float:
    """Share of a property's snippets that the judge counted, capped at 1 (but not at 0)."""
    return min(published_share(reply, snippets), 1.0)


def published_claims(reply: str) -> tuple[float, float]:
    """(citations, excerpts): shares of claims with citation and of citations with excerpt; one odd claim makes both 0 (R10)."""
    found = published_json(reply)
    if not found:
        return 0.0, 0.0
    try:
        claims = found["claims"]
        citations = [citation for claim in claims for citation in claim["citations"]]
        cited = sum(1 for claim in claims if claim["citations"])
        quoted = sum(1 for citation in citations if citation["excerpts"])
        return cited / max(len(claims), 1), quoted / max(len(citations), 1)
    except (KeyError, TypeError):
        return 0.0, 0.0


def published_length(answer: str, low: int, high: int) -> float:
    """1 up to `low` words and 0 from `high` on, linear between; reference lists count, and an empty answer gets 1 (R5, R6)."""
    words = len(answer.split())
    return 1 - ((min(max(words, low), high) - low) / (high - low))


# ---------------------------------------------------------------- corrected

_HEADING = re.compile(
    r"^[ \t]*(?:#{1,6}[ \t]*|[-*•][ \t]+)?(?:\*\*|__)?[ \t]*"
    r"(?:references?|bibliography|works cited|sources|literature cited)[ \t]*"
    r"(?:(?:\*\*|__)?[ \t]*$|(?:\*\*|__)?:(?:\*\*|__)?)",
    re.IGNORECASE | re.MULTILINE,
)
_ENTRY = re.compile(r"[ \t]*(?:[\[(]?(?P<number>\d+)[\]).:]|(?P<bullet>[-*•]))[ \t]")
_SOURCE = re.compile(r"\b(?:19|20)\d\d\b|https?://|\bdoi\b", re.IGNORECASE)
_LONGEST = 80  # words of an entry that has no number


def body(answer: str) -> str:
    """An answer without its lists of references, also where each section has its own.

    A list starts below a heading 'References', 'Sources' and the like and lasts as long as paragraphs are its entries: numbered
    on from the first, bulleted like the first, or, without marks, short and with a year or address.
    """
    kept, at = [], 0
    for heading in _HEADING.finditer(answer):
        if heading.start() < at:
            continue
        end = _list_end(answer, heading.end())
        if end > heading.end():
            kept.append(answer[at : heading.start()])
            at = end
    return "".join([*kept, answer[at:]]).strip()


def _list_end(answer: str, start: int) -> int:
    """Where the entries that follow `start` end; `start` itself if there are none."""
    end, last = start, None
    for paragraph in re.finditer(r"(?:[^\n]*\S[^\n]*\n?)+", answer[start:]):
        entry = _ENTRY.match(paragraph[0])
        mark = "" if entry is None else entry["bullet"] or "1"
        number = int(entry["number"][:9]) if entry and entry["number"] else 0
        if last is not None and (mark, number) not in {(last[0], last[1] + 1), (last[0], 0)}:
            break
        inline = not answer[start : start + paragraph.start()].strip(" \t") and end == start
        if entry is None and not (_SOURCE.search(paragraph[0]) and (inline or len(paragraph[0].split()) <= _LONGEST)):
            break
        numbers = [int(item["number"][:9]) for item in map(_ENTRY.match, paragraph[0].split("\n")) if item and item["number"]]
        last = mark, max([number, *(n for n in numbers if mark == "1")])
        end = start + paragraph.end()
    return end


def corrected_length(answer: str, low: int, high: int) -> float:
    """As published, but of the body alone, and 0 for an answer without a word."""
    text = body(answer)
    return published_length(text, low, high) if text else 0.0


def corrected_share(verdict: Any, full: int) -> float | None:
    """The parsed `score` over `full`, within 0..1; None where there is no verdict."""
    return None if verdict is None else min(max(float(verdict["score"]) / full, 0.0), 1.0)


def corrected_claims(verdict: Any) -> tuple[float, float] | None:
    """As published, but a malformed claim or citation counts for itself alone, and blank citations and excerpts for nothing."""
    if verdict is None:
        return None
    claims = list(verdict["claims"])
    cited = [_citations(claim) for claim in claims]
    citations = [citation for group in cited for citation in group]
    quoted = sum(1 for citation in citations if isinstance(citation, dict) and _filled(citation.get("excerpts")))
    return sum(1 for group in cited if group) / max(len(claims), 1), quoted / max(len(citations), 1)


def _citations(claim: Any) -> list[Any]:
    group = claim.get("citations") if isinstance(claim, dict) else None
    if not isinstance(group, list):
        return []
    return [item for item in group if (item.strip() if isinstance(item, str) else isinstance(item, dict) and item)]


def _filled(excerpts: Any) -> bool:
    texts = excerpts if isinstance(excerpts, list) else [excerpts]
    return any(isinstance(text, str) and text.strip() for text in texts)


# ---------------------------------------------------------------- an answer's score


def weights(sheet: Rubric, *, criteria: bool, evidence: bool) -> dict[str, float]:
    """The weight of each component; a property's is split evenly where criterion and evidence both count."""
    found = dict(sheet.weights)
    for item in sheet.properties:
        with_evidence = evidence and bool(item.evidence)
        share = item.weight / (2.0 if criteria and with_evidence else 1.0)
        if criteria:
            found[item.name] = share
        if with_evidence:
            found[f"{item.name}_evidence"] = share
    return found


def published_total(parts: Mapping[str, float], weighing: Mapping[str, float]) -> tuple[float, float]:
    """(score, annotated score): the weighted sum, and that of the properties over 0.6 (R12)."""
    score = sum(weight * parts[name] for name, weight in weighing.items())
    annotated = sum(weight * parts[name] for name, weight in weighing.items() if name not in GENERAL)
    return score, annotated / 0.6


def corrected_total(parts: Mapping[str, float | None], weighing: Mapping[str, float]) -> tuple[float | None, float | None]:
    """As published, with sums over the weights there are; None as soon as one component has no value."""
    return _mean(parts, weighing), _mean(parts, {name: w for name, w in weighing.items() if name not in GENERAL})


def _mean(parts: Mapping[str, float | None], weighing: Mapping[str, float]) -> float | None:
    total = sum(weighing.values())
    values = [(weight, parts[name]) for name, weight in weighing.items()]
    if not total or any(value is None for _, value in values):
        return None
    return sum(weight * value for weight, value in values if value is not None) / total
