"""Citation recall and precision from entailment verdicts: pure generators that ask and are told.

A scorer yields batches of `(passage, claim)` pairs, is sent a verdict for each (None: the judge gave none) and returns a
`Score`.
Source: AkariAsai/ScholarQABench@95e6fc52 `citation_correctness_eval.py` L324 (long form) and L479 (short form);
precision with the necessity test is ALCE's (Gao et al. 2023, section 3.2).
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from typing import Any, TypeVar

import msgspec

from vivavoce.records import Passage

Pair = tuple[str, str]  # passage, claim
Verdicts = Sequence[bool | None]
T = TypeVar("T")
Asking = Generator[list[Pair], Verdicts, T]


class Score(msgspec.Struct, frozen=True, kw_only=True):
    """One answer's citations.

    `recall`: statements that their passages support, out of all statements; `precision`: sound citations out of all that count;
    both in [0, 1] and 0 where there is nothing to divide by. `calls` are the verdicts asked for, repeats included; `missing`
    those that no judge gave. `counts` tells how statements fell, `trace` what became of each.
    """

    recall: float
    precision: float
    statements: int
    supported: int
    citations: int
    sound: int
    calls: int
    missing: int
    counts: dict[str, int] = {}
    trace: list[dict[str, Any]] = []


class Unit(msgspec.Struct, frozen=True, kw_only=True):
    """A statement to verify: its claim, the passages it cites (indices, may repeat), how many more citations are wrong."""

    claim: str
    cited: tuple[int, ...] = ()
    wrong: int = 0


class Verified(msgspec.Struct, kw_only=True):
    """How a unit fared: whether its passages together support it, and how many of its citations are sound."""

    supported: bool = False
    sound: int = 0


def passage_text(passage: Passage) -> str:
    """A passage as the entailment judge reads it (spec 3.4): a title line, then the text."""
    return f"Title: {passage.title}\n{passage.text}"


def verify(units: Sequence[Unit], passages: Sequence[Passage], counts: dict[str, int] | None = None) -> Asking[Score]:
    """Ask what is needed, in at most three batches, and sum up.

    A citation is sound if its statement is supported and it is the only one, or it supports the statement alone, or the
    others do not without it (an over-citation otherwise).
    """
    texts = [passage_text(passage) for passage in passages]
    fared = [Verified() for _ in units]
    calls = missing = 0

    def pair(unit: Unit, indices: Iterable[int]) -> Pair:
        return "\n".join(texts[index] for index in indices), unit.claim

    cited = [number for number, unit in enumerate(units) if unit.cited]
    together = yield from _ask([pair(units[number], units[number].cited) for number in cited])
    alone: list[tuple[int, int]] = []
    for number, verdict in zip(cited, together, strict=True):
        fared[number].supported = bool(verdict)
        if verdict and len(units[number].cited) == 1:
            fared[number].sound = 1
        elif verdict:
            alone += [(number, index) for index in units[number].cited]
    verdicts = yield from _ask([pair(units[number], [index]) for number, index in alone])
    rest: list[tuple[int, list[int]]] = []
    for (number, index), verdict in zip(alone, verdicts, strict=True):
        if verdict:
            fared[number].sound += 1
        elif verdict is not None:
            others = list(units[number].cited)
            others.remove(index)
            rest.append((number, others))
    needed = yield from _ask([pair(units[number], others) for number, others in rest])
    for (number, _), verdict in zip(rest, needed, strict=True):
        fared[number].sound += verdict is False
    for answers in (together, verdicts, needed):
        calls += len(answers)
        missing += sum(answer is None for answer in answers)
    citations = sum(len(unit.cited) + unit.wrong for unit in units)
    supported, sound = sum(unit.supported for unit in fared), sum(unit.sound for unit in fared)
    return Score(
        recall=supported / len(units) if units else 0.0,
        precision=sound / citations if citations else 0.0,
        statements=len(units),
        supported=supported,
        citations=citations,
        sound=sound,
        calls=calls,
        missing=missing,
        counts=counts or {},
        trace=[_trace(unit, result) for unit, result in zip(units, fared, strict=True)],
    )


def _trace(unit: Unit, fared: Verified) -> dict[str, Any]:
    """A line of `Score.trace`; long claims are cut, since answer and passages stand in the rollout."""
    return {
        "claim": unit.claim[:160],
        "cited": list(unit.cited),
        "wrong": unit.wrong,
        "supported": fared.supported,
        "sound": fared.sound,
    }


def _ask(pairs: list[Pair]) -> Asking[Verdicts]:
    """An empty batch is not yielded."""
    return (yield pairs) if pairs else []
