"""Citations of long answers, both profiles (ScholarQABench@95e6fc52 `compute_autoais`, L324)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from vivavoce.metrics.citations import corrected, published
from vivavoce.metrics.citations.scoring import Asking, Score, Unit, verify
from vivavoce.records import Passage


def as_published(answer: str, passages: Sequence[Passage], *, most: int = 3) -> Asking[Score | None]:
    """The published script's score of one answer; None if it has no sentence (such answers leave the script's means, C6).

    `most` is `--at_most_citations`. Sentences under 50 characters are skipped (C7), uncited ones inherit the last list in
    range (C8), one id out of range voids its sentence (C5).
    """
    sentences = published.sentences(answer)
    if not sentences:
        return None
    counts: Counter[str] = Counter(sentences=len(sentences))
    units: list[Unit] = []
    last: list[int] = []
    for sentence in sentences:
        cited = published.ids(sentence)
        if len(sentence) < published.SHORTEST:
            counts["short"] += 1
            counts["short_with_citation"] += bool(cited)
            continue
        claim = published.claim(sentence)
        kind = "own"
        if not cited and last:
            cited, kind = last, "inherited"
        if not cited:
            counts["no_citation"] += 1
        elif max(cited) >= len(passages):
            counts["out_of_range"] += 1
            cited = []
        else:
            last = cited
            counts[kind] += 1
            counts["truncated"] += len(cited) > most
        units.append(Unit(claim=claim, cited=tuple(cited[:most])))
    return (yield from verify(units, passages, dict(counts)))


def as_corrected(answer: str, passages: Sequence[Passage], shown: Collection[int], *, base: int = 0) -> Asking[Score]:
    """What the paper says it measures: each statement by its own citations, every citation counted once.

    `shown` are the indices of `passages` that the agent saw; a citation of anything else is wrong (C5, C12). `base` is the
    number of the first passage (0 or 1). An answer without a statement scores 0.
    """
    statements = corrected.parse(answer)
    counts: Counter[str] = Counter(sentences=len(statements))
    units = []
    for statement in statements:
        unit = unit_of(statement.claim, statement.ids, shown, base)
        counts["no_citation"] += not statement.ids
        counts["out_of_range"] += unit.wrong
        units.append(unit)
    counts["papers"] = len({index for unit in units for index in unit.cited})
    return (yield from verify(units, passages, dict(counts)))


def unit_of(claim: str, ids: Sequence[int], shown: Collection[int], base: int) -> Unit:
    """A statement with those of its citations that point to a passage shown; the others count as wrong."""
    valid = tuple(number - base for number in ids if number - base in shown)
    return Unit(claim=claim, cited=valid, wrong=len(ids) - len(valid))
