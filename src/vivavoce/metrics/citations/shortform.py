"""Citations of one-word answers, both profiles (ScholarQABench@95e6fc52 `compute_autoais_short_form`, L479)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from vivavoce.metrics.citations import corrected, published
from vivavoce.metrics.citations.longform import unit_of
from vivavoce.metrics.citations.scoring import Asking, Score, Unit, verify
from vivavoce.records import Passage


def as_published(question: str, answer: str, passages: Sequence[Passage], *, most: int = 3) -> Asking[Score]:
    """Question and answer as one sentence, whose ids are read from both (C13); no inheritance, no shortest length."""
    text = f"{question} {answer}"
    cited = published.ids(text)
    if cited and max(cited) >= len(passages):
        cited = []
    return (yield from verify([Unit(claim=published.claim(text), cited=tuple(cited[:most]))], passages))


def as_corrected(
    question: str, answer: str, passages: Sequence[Passage], shown: Collection[int], *, base: int = 0
) -> Asking[Score]:
    """The same claim, with the citations of the answer only; each counts once, those of passages never shown are wrong.

    An empty answer scores 0.
    """
    if not answer.strip():
        return (yield from verify([Unit(claim="")], passages))
    claim = f"{' '.join(question.split())} {corrected.claim(answer)}".strip()
    return (yield from verify([unit_of(claim, corrected.ids(answer), shown, base)], passages))
