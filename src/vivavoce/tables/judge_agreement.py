"""How far judges agree on the same answers: for each two judges the share of equal verdicts and Cohen's kappa."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import combinations

from vivavoce.config.base import Strict
from vivavoce.errors import ConfigError
from vivavoce.files import read_records
from vivavoce.metrics.agreement import cohen_kappa
from vivavoce.records import Judgement, Profile, Question
from vivavoce.tables.listing import Heading, Listing, Material, Run, Value

Answer = tuple[str, str, int, str]  # agent, model, seed, question
Pair = tuple[float, float]


class Options(Strict):
    """Which verdicts: a measure, on the questions of a slice (those that a judge decides)."""

    measure: str
    slice: str = "all"
    profile: Profile = "corrected"


def table(material: Material) -> Listing:
    """One row a pair of judges and a row's answers, and one for all answers; unscored answers are left out and counted."""
    options = material.checked(Options)
    known = {name for specs in material.specs.values() for name in specs}
    if options.measure not in known:
        raise ConfigError(
            f"table '{material.title}': options: measure: unknown '{options.measure}'. Known: {', '.join(sorted(known))}."
        )
    verdicts: dict[str, dict[Answer, float | None]] = defaultdict(dict)
    for run in material.runs:
        verdicts[run.judge].update(_verdicts(run, options))
    rows: list[list[Value]] = []
    for first, second in combinations(sorted(verdicts), 2):
        ours, theirs = verdicts[first], verdicts[second]
        shared = sorted(ours.keys() & theirs.keys())
        for agent, model in sorted({key[:2] for key in shared}):
            chosen = [key for key in shared if key[:2] == (agent, model)]
            rows.append([first, second, f"{agent} · {model}", *_agreement((ours[key], theirs[key]) for key in chosen)])
        if shared:
            rows.append([first, second, "all of these", *_agreement((ours[key], theirs[key]) for key in shared)])
    headings = ["judge A", "judge B", "answers of", "n", "no verdict", "A: right (%)", "B: right (%)", "equal (%)"]
    return Listing(
        title=material.title,
        headings=[*(Heading(label) for label in headings), Heading("Cohen's kappa", digits=2, signed=True)],
        rows=rows,
        notes=material.notes,
    )


def _verdicts(run: Run, options: Options) -> dict[Answer, float | None]:
    chosen = {
        question.id
        for question in read_records(run.questions, Question)
        if options.slice == "all" or options.slice in question.slices
    }
    return {
        (run.agent, run.model, run.seed, item.question_id): item.value
        for item in read_records(run.judgements, Judgement)
        if item.measure == options.measure and item.profile == options.profile and item.question_id in chosen
    }


def _agreement(values: Iterable[tuple[float | None, float | None]]) -> list[Value]:
    """Pairs, pairs without both verdicts, the two judges' means, share of equal values, kappa (None if chance decides all)."""
    found = list(values)
    pairs: list[Pair] = [(a, b) for a, b in found if a is not None and b is not None]
    if not pairs:
        return [0, len(found), None, None, None, None]
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    equal = sum(a == b for a, b in pairs)
    shares = [100 * sum(first) / len(pairs), 100 * sum(second) / len(pairs), 100 * equal / len(pairs)]
    return [len(pairs), len(found) - len(pairs), *shares, cohen_kappa(first, second)]
