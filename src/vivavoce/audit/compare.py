"""What judgement files tell about judges: agreement of two judges, sensitivity to length, agreement of annotators' rubrics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from vivavoce.errors import DataError
from vivavoce.metrics.agreement import (
    Estimate,
    annotators,
    bootstrap,
    cohen_kappa,
    kendall,
    krippendorff_alpha,
    pearson,
    published_annotators,
    spearman,
)
from vivavoce.records import Judgement, Profile


class Agreement(msgspec.Struct, frozen=True, kw_only=True):
    """Two judges on the same answers. `both` questions have two values; `one` have one only (the other judge gave none).

    `kappa` for values that are verdicts (at most ten different ones), `alpha` nominal for these and interval otherwise.
    """

    measure: str
    profile: Profile
    both: int
    one: int
    kappa: Estimate | None
    alpha: Estimate
    pearson: Estimate
    spearman: Estimate


def compare(
    first: Iterable[Judgement], second: Iterable[Judgement], measure: str, profile: Profile = "corrected", *, seed: int = 0
) -> Agreement:
    """Agreement of two judges' values of one measure, joined by question; DataError if they share no question."""
    ours, theirs = values(first, measure, profile), values(second, measure, profile)
    shared = sorted(ours.keys() & theirs.keys())
    if not shared:
        raise DataError(f"the two judges share no question with the measure {measure} ({profile}). Compare the same rollouts.")
    pairs = [(a, b) for key in shared if (a := ours[key]) is not None and (b := theirs[key]) is not None]
    one = sum((ours[key] is None) != (theirs[key] is None) for key in shared)
    x, y = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    verdicts = len({*x, *y}) <= 10
    return Agreement(
        measure=measure,
        profile=profile,
        both=len(pairs),
        one=one,
        kappa=bootstrap(cohen_kappa, x, y, seed=seed) if verdicts else None,
        alpha=bootstrap(lambda a, b: krippendorff_alpha([a, b], "nominal" if verdicts else "interval"), x, y, seed=seed),
        pearson=bootstrap(pearson, x, y, seed=seed),
        spearman=bootstrap(spearman, x, y, seed=seed),
    )


def values(judgements: Iterable[Judgement], measure: str, profile: Profile) -> dict[str, float | None]:
    """Question id -> value, None where unscored."""
    return {item.question_id: item.value for item in judgements if item.measure == measure and item.profile == profile}


def length_sensitivity(
    judgements: Iterable[Judgement], measure: str, profile: Profile = "corrected", *, seed: int = 0
) -> Estimate:
    """Rank correlation (Spearman) of a measure with the answer's words, which graders keep in a judgement's detail.

    For measures of the rubric and of Prometheus; `n` 0 if no judgement of the sample tells its words.
    """
    kept = list(judgements)
    words = {item.question_id: item.detail["words"] for item in kept if item.profile == profile and "words" in item.detail}
    scores = values(kept, measure, profile)
    pairs = [(words[key], score) for key, score in sorted(scores.items()) if score is not None and key in words]
    return bootstrap(spearman, [pair[0] for pair in pairs], [pair[1] for pair in pairs], seed=seed)


def annotator_pairs(systems: Mapping[str, Iterable[Judgement]], measure: str = "rubric_criteria") -> dict[str, Any]:
    """Question id -> (scores by the first annotator's rubric, by the second's), one a system, where all are scored by both.

    `systems` are judgements of the corrected profile with `annotators: mean`, whose detail holds each rubric's totals.
    """
    columns: dict[str, dict[str, tuple[float, float]]] = {}
    for system, judgements in systems.items():
        for item in judgements:
            if item.measure != "rubric_criteria" or item.profile != "corrected":
                continue
            rubrics: Sequence[Mapping[str, Any]] = item.detail.get("rubrics", ())
            if len(rubrics) == 2 and all(entry.get(measure) is not None for entry in rubrics):
                columns.setdefault(item.question_id, {})[system] = (rubrics[0][measure], rubrics[1][measure])
    names = sorted(systems)
    return {
        question: ([found[name][0] for name in names], [found[name][1] for name in names])
        for question, found in sorted(columns.items())
        if set(found) == set(names)
    }


def annotator_agreement(systems: Mapping[str, Iterable[Judgement]], measure: str = "rubric_criteria") -> dict[str, Any]:
    """Pearson and Kendall between two annotators' rubrics over the systems: signed with interval, and as published (R13)."""
    pairs = annotator_pairs({name: list(judgements) for name, judgements in systems.items()}, measure)
    return {
        "questions": len(pairs),
        "pearson": annotators(pairs, pearson),
        "kendall": annotators(pairs, kendall),
        "pearson_as_published": published_annotators(pairs, pearson),
        "kendall_as_published": published_annotators(pairs, kendall),
    }
