"""ScholarQA-CS: answers by the rubrics that experts wrote, each item judged by a model. Both profiles, from the same replies.

Source: AkariAsai/ScholarQABench@95e6fc52 `scholarqacs_rubric.py`, `rubric_eval.py`. `question.gold`:

    rubrics     [{case_id, annotator, agreement, config}], one an annotator, in the file's order
    annotators  mean (default: over all rubrics of the question) or first; as published always takes one (R1)
    evidence    whether snippets are judged as well (default true)

As published, the rubric is the one that the answer names (`rollout.extra["case_id"]`), else the first. Each request carries
`ref`: {agent, model, case_id, item}, by which recorded replies are found; items are `expertise`, `claims`,
`criterion:<property>` and `evidence:<property>`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from vivavoce.errors import ConfigError, DataError
from vivavoce.grading.base import Grading, MeasureSpec, Value
from vivavoce.grading.common import EFFORT, effort, failed, failure, judgement
from vivavoce.metrics import rubric as sheets
from vivavoce.metrics.rubric import GENERAL, Property, PublishedStopError, Rubric
from vivavoce.records import Judgement, JudgeReply, JudgeRequest, Profile, Question, Rollout

TOTALS = ("rubric", "rubric_items", "rubric_criteria", "rubric_criteria_items")
PARTS = tuple(f"rubric_{name}" for name in (*GENERAL, "snippets"))
RUBRIC: tuple[MeasureSpec, ...] = tuple(Value(name=name, kind="mean") for name in (*TOTALS, *PARTS))
MEASURES: tuple[MeasureSpec, ...] = (*RUBRIC, *EFFORT)

Key = tuple[str, str]  # case_id and item
Parts = dict[str, float | None]


def grade(question: Question, rollout: Rollout) -> Grading:
    """The rubric's measures and the effort."""
    judgements = yield from rubric_grading(question, rollout)
    return judgements + effort(rollout)


def rubric_grading(question: Question, rollout: Rollout) -> Grading:
    """The judgements of RUBRIC. Other graders run it with `yield from`.

    `rubric` has criteria and snippets, `rubric_criteria` criteria alone; `..._items` is the part that experts wrote for this
    question (upstream's ann_score). A failed rollout scores 0; as published an empty answer has the full length score (R6).
    """
    evidence = bool(question.gold.get("evidence", True))
    if failed(rollout):
        return _failed(rollout, evidence=evidence)
    published, corrected = _sheets(question, rollout)
    asked = list({sheet.case_id: sheet for sheet in [published, *corrected]}.values())
    heard: dict[Key, JudgeReply] = {}
    yield from _ask(_first(asked, published, rollout), heard)
    if evidence:
        yield from _ask(_second(asked, rollout, heard), heard)
    return _as_published(rollout, published, heard, evidence=evidence) + _as_corrected(
        rollout, corrected, published, heard, evidence=evidence
    )


def _sheets(question: Question, rollout: Rollout) -> tuple[Rubric, list[Rubric]]:
    entries = question.gold.get("rubrics")
    if not entries:
        raise DataError(
            f"question {question.id}: no rubrics. Grade it with a benchmark that has gold['rubrics'] (ScholarQA-CS)."
        )
    policy = question.gold.get("annotators", "mean")
    if policy not in {"mean", "first"}:
        raise ConfigError(f"question {question.id}: annotators is {policy!r}; expected mean or first.")
    all_sheets = [sheets.rubric(entry) for entry in entries]
    named = rollout.extra.get("case_id")
    published = next((sheet for sheet in all_sheets if sheet.case_id == named), all_sheets[0])
    return published, all_sheets if policy == "mean" else all_sheets[:1]


# ---------------------------------------------------------------- asking

Asked = list[tuple[Key, JudgeRequest]]


def _ask(requests: Asked, heard: dict[Key, JudgeReply]) -> Grading:
    replies = yield [request for _, request in requests]
    heard.update(zip((key for key, _ in requests), replies, strict=True))
    return []


def _request(rollout: Rollout, task: str, key: Key, **fields: Any) -> tuple[Key, JudgeRequest]:
    reference = {"agent": rollout.agent, "model": rollout.model, "case_id": key[0], "item": key[1]}
    return key, JudgeRequest(task=task, fields={"answer": rollout.answer, "ref": reference, **fields})


def _first(asked: Iterable[Rubric], one: Rubric, rollout: Rollout) -> Asked:
    requests = [
        _request(rollout, "rubric_expertise", (one.case_id, "expertise"), question=one.question),
        _request(rollout, "rubric_claims", (one.case_id, "claims")),
    ]
    for sheet in asked:
        for item in sheet.properties:
            key = (sheet.case_id, f"criterion:{item.name}")
            requests.append(_request(rollout, "rubric_criterion", key, question=sheet.question, criterion=item.criterion))
    return requests


def _second(asked: Iterable[Rubric], rollout: Rollout, heard: Mapping[Key, JudgeReply]) -> Asked:
    """Snippets are only looked for where the criterion has a score, under one profile or the other."""
    return [
        _request(rollout, "rubric_evidence", (sheet.case_id, f"evidence:{item.name}"), snippets=list(item.evidence))
        for sheet in asked
        for item in sheet.properties
        if item.evidence and _any_score(heard[sheet.case_id, f"criterion:{item.name}"])
    ]


def _any_score(reply: JudgeReply) -> bool:
    try:
        return bool(sheets.published_share(reply.text, 10)) or bool(sheets.corrected_share(reply.verdict, 10))
    except PublishedStopError:
        return reply.verdict is not None


# ---------------------------------------------------------------- as published


def _as_published(rollout: Rollout, sheet: Rubric, heard: Mapping[Key, JudgeReply], *, evidence: bool) -> list[Judgement]:
    missing = [key[1] for key, reply in heard.items() if key[0] == sheet.case_id and not reply.text]
    problem = f"no reply for {', '.join(missing)}" if missing else ""
    try:
        parts = {} if missing else _published_parts(rollout, sheet, heard, evidence=evidence)
    except PublishedStopError as error:
        parts, problem = {}, str(error)
    if problem:
        reasons = {key[1]: reply.error for key, reply in heard.items() if key[1] in missing and reply.error}
        reason = "; ".join([problem, *dict.fromkeys(reasons.values())])
        return [_unscored(rollout, name, "as_published", reason) for name in _names(evidence=evidence)]
    known = {name: value for name, value in parts.items() if value is not None}
    criteria = sheets.published_total(known, sheets.weights(sheet, criteria=True, evidence=False))
    both = sheets.published_total(known, sheets.weights(sheet, criteria=True, evidence=evidence))
    values: dict[str, float | None] = dict(zip(TOTALS, (*both, *criteria), strict=True))
    values |= {f"rubric_{name}": known[name] for name in GENERAL} | {"rubric_snippets": _snippets(sheet, parts)}
    detail = {"case_id": sheet.case_id, "annotator": sheet.annotator, "parts": known, "words": len(_raw(rollout).split())}
    return [
        judgement(
            rollout,
            name,
            "as_published",
            values[name],
            detail=detail if name == "rubric_criteria" else None,
            replies=list(heard.values()) if name == "rubric_criteria" else (),
        )
        for name in _names(evidence=evidence)
    ]


def _published_parts(rollout: Rollout, sheet: Rubric, heard: Mapping[Key, JudgeReply], *, evidence: bool) -> Parts:
    case = sheet.case_id
    parts: Parts = {"length": sheets.published_length(_raw(rollout), sheet.low_length, sheet.high_length)}
    parts["expertise"] = sheets.published_share(heard[case, "expertise"].text, 10)
    parts["citations"], parts["excerpts"] = sheets.published_claims(heard[case, "claims"].text)
    for item in sheet.properties:
        share = sheets.published_share(heard[case, f"criterion:{item.name}"].text, 10)
        parts[item.name] = share
        if evidence and item.evidence:
            reply = heard.get((case, f"evidence:{item.name}"))
            parts[f"{item.name}_evidence"] = (
                sheets.published_evidence(reply.text, len(item.evidence)) if share and reply is not None else 0.0
            )
    return parts


# ---------------------------------------------------------------- corrected


def _as_corrected(
    rollout: Rollout, rubrics: list[Rubric], one: Rubric, heard: Mapping[Key, JudgeReply], *, evidence: bool
) -> list[Judgement]:
    answer = rollout.answer or ""
    claims = sheets.corrected_claims(heard[one.case_id, "claims"].verdict)
    shared: Parts = {
        "expertise": sheets.corrected_share(heard[one.case_id, "expertise"].verdict, 10),
        "citations": None if claims is None else claims[0],
        "excerpts": None if claims is None else claims[1],
    }
    columns: dict[str, list[float | None]] = {name: [] for name in _names(evidence=evidence)}
    details = []
    for sheet in rubrics:
        parts = {"length": sheets.corrected_length(answer, sheet.low_length, sheet.high_length), **shared}
        parts |= _items(sheet, heard, evidence=evidence)
        criteria = sheets.corrected_total(parts, sheets.weights(sheet, criteria=True, evidence=False))
        both = sheets.corrected_total(parts, sheets.weights(sheet, criteria=True, evidence=evidence))
        values = dict(zip(TOTALS, (*both, *criteria), strict=True))
        values |= {f"rubric_{name}": parts[name] for name in GENERAL} | {"rubric_snippets": _snippets(sheet, parts)}
        details.append({"case_id": sheet.case_id, "annotator": sheet.annotator, "parts": parts, **values})
        for name, column in columns.items():
            column.append(values[name])
    errors = [f"{key[1]}: {reply.error}" for key, reply in heard.items() if reply.error]
    words = len(sheets.body(answer).split())
    judgements = []
    for name, column in columns.items():
        value = _average(column)
        if value is None:
            reason = f"{len(errors)} of {len(heard)} verdicts are missing: {'; '.join(errors[:3])}"
            judgements.append(_unscored(rollout, name, "corrected", reason))
            continue
        about = {"rubrics": details, "words": words} if name == "rubric_criteria" else None
        judgements.append(judgement(rollout, name, "corrected", value, detail=about))
    return judgements


def _items(sheet: Rubric, heard: Mapping[Key, JudgeReply], *, evidence: bool) -> Parts:
    parts: Parts = {}
    for item in sheet.properties:
        share = sheets.corrected_share(heard[sheet.case_id, f"criterion:{item.name}"].verdict, 10)
        parts[item.name] = share
        if evidence and item.evidence:
            parts[f"{item.name}_evidence"] = _evidence(sheet, item, share, heard)
    return parts


def _evidence(sheet: Rubric, item: Property, share: float | None, heard: Mapping[Key, JudgeReply]) -> float | None:
    if not share:
        return share
    return sheets.corrected_share(heard[sheet.case_id, f"evidence:{item.name}"].verdict, len(item.evidence))


# ---------------------------------------------------------------- shared


def _names(*, evidence: bool) -> tuple[str, ...]:
    return (*TOTALS, *PARTS) if evidence else (*TOTALS[2:], *PARTS[:-1])


def _raw(rollout: Rollout) -> str:
    """The answer as a published file has it."""
    return str(rollout.extra.get("published_answer", rollout.answer) or "")


def _snippets(sheet: Rubric, parts: Mapping[str, float | None]) -> float | None:
    """Mean share of snippets found, weighted as the properties are; None if one has no value."""
    found = [(item.weight, parts.get(f"{item.name}_evidence")) for item in sheet.properties if item.evidence]
    total = sum(weight for weight, _ in found)
    if not total or any(value is None for _, value in found):
        return None
    return sum(weight * value for weight, value in found if value is not None) / total


def _average(column: list[float | None]) -> float | None:
    values = [value for value in column if value is not None]
    return sum(values) / len(values) if values and len(values) == len(column) else None


def _unscored(rollout: Rollout, name: str, profile: Profile, reason: str) -> Judgement:
    return judgement(rollout, name, profile, None, reason=reason, unscored=True)


def _failed(rollout: Rollout, *, evidence: bool) -> list[Judgement]:
    """Zeros; where upstream would have judged an empty answer, its length score of 1 (weight 0.05) is kept (R6)."""
    lenient = (
        {"rubric": 0.05, "rubric_criteria": 0.05, "rubric_length": 1.0} if rollout.outcome in {"answered", "invalid"} else {}
    )
    judgements = []
    for name in _names(evidence=evidence):
        judgements += [
            item
            if item.profile == "corrected" or name not in lenient
            else judgement(rollout, name, "as_published", lenient[name], reason=item.reason)
            for item in failure(rollout, name)
        ]
    return judgements
