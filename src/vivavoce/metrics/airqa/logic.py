"""An evaluator as a tree: leaves that compare, leaves that ask a judge, and conjunction, disjunction, negation over them.

Both profiles are generators that yield a `JudgeRequest`, are sent its `JudgeReply` and return the score 0..1. Source:
OpenDFM/NeuSym-RAG@596e644e, evaluation/llm_functions.py, evaluator.py and the logical functions beside them.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any

from vivavoce.metrics.airqa import corrected, published
from vivavoce.metrics.airqa.normal import sequence
from vivavoce.metrics.airqa.verdict import published_verdict
from vivavoce.records import JudgeReply, JudgeRequest

Scoring = Generator[JudgeRequest, JudgeReply, float]

# function -> (judge task, keywords that it needs besides `question`)
JUDGED: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "eval_reference_answer_with_llm": ("reference_answer", ("reference_answer",)),
    "eval_candidate_reference_answer_with_llm": ("candidate_answers", ("candidate_reference_answers",)),
    "eval_scoring_points_with_llm": ("scoring_points", ("scoring_points",)),
    "eval_partial_scoring_points_with_llm": ("partial_scoring_points", ("scoring_points",)),
    "eval_reference_answer_and_scoring_points_with_llm": ("reference_and_points", ("reference_answer", "scoring_points")),
    "eval_complex_math_formula_with_llm": ("formula", ("formulas",)),
}
LOGICAL = ("eval_conjunction", "eval_disjunction", "eval_negation")
UPSTREAM_ERRORS = (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError)


class UnscoredError(Exception):
    """There is no score: the judge gave no verdict, or the record's evaluator is broken."""


class MalformedError(Exception):
    """The prediction has not the form that the evaluator asks for: wrong, and not to be rewarded by a negation."""


def needs_judge(evaluator: Mapping[str, Any]) -> bool:
    """Whether a leaf of the tree asks a judge."""
    function, kwargs = evaluator["eval_func"], evaluator["eval_kwargs"]
    if function in ("eval_conjunction", "eval_disjunction"):
        return any(needs_judge(part) for part in _parts(kwargs))
    return needs_judge(kwargs) if function == "eval_negation" else function not in published.FUNCTIONS


def score_published(evaluator: Mapping[str, Any], pred: Any) -> Scoring:
    """Upstream's `evaluate_airqa`: an error text or an error of the evaluator is 0. Raises UnscoredError."""
    if isinstance(pred, str) and pred.startswith("[ERROR]:"):
        return 0.0
    try:
        return (yield from published_tree(evaluator["eval_func"], pred, evaluator["eval_kwargs"]))
    except UPSTREAM_ERRORS:
        return 0.0


def published_tree(function: str, pred: Any, kwargs: Mapping[str, Any]) -> Scoring:
    """Upstream's function by name; raises what upstream raises, and UnscoredError."""
    if function in published.FUNCTIONS:
        return published.FUNCTIONS[function](pred, **kwargs)
    if function == "eval_negation":
        return 1 - (yield from published_tree(kwargs["eval_func"], pred, kwargs["eval_kwargs"]))
    if function in LOGICAL:
        parts, items = _parts(kwargs), published.as_list(pred)
        if len(items) != len(kwargs["eval_func_list"]):
            return 0.0
        every = function == "eval_conjunction"
        for item, part in zip(items, parts, strict=False):
            score = yield from published_tree(part["eval_func"], item, part["eval_kwargs"])
            if every and score < 0.5:
                return 0.0
            if not every and score > 0.5:
                return 1.0
        return float(every)
    request = judge_request(function, pred, kwargs)
    if function == "eval_partial_scoring_points_with_llm":
        assert 0 < kwargs.get("count", 1) < len(kwargs["scoring_points"])
    reply = yield request
    if reply.error and not reply.text:
        raise UnscoredError(reply.error)
    return float(published_verdict(reply.text))


def score_corrected(evaluator: Mapping[str, Any], pred: Any) -> Scoring:
    """The corrected score; a malformed prediction is 0. Raises UnscoredError."""
    try:
        return (yield from corrected_tree(evaluator["eval_func"], pred, evaluator["eval_kwargs"]))
    except MalformedError:
        return 0.0


def corrected_tree(function: str, pred: Any, kwargs: Mapping[str, Any]) -> Scoring:
    """The corrected function by name. Raises MalformedError and UnscoredError."""
    kwargs = corrected.repaired(kwargs)
    try:
        if function in corrected.FUNCTIONS:
            right = corrected.FUNCTIONS[function](pred, kwargs)
            if not right and not corrected.readable(function, pred, kwargs):
                raise MalformedError(f"{function} cannot read the prediction")
            return float(right)
        if function == "eval_negation":
            score = yield from corrected_tree(kwargs["eval_func"], pred, kwargs["eval_kwargs"])
            if not corrected.readable(kwargs["eval_func"], pred, kwargs["eval_kwargs"]):
                raise MalformedError("a negation needs a prediction that its function can read")
            return 1 - score
        if function == "eval_conjunction":
            return (yield from _all(_parts(kwargs), pred))
        if function == "eval_disjunction":
            return (yield from _any(_parts(kwargs), pred))
        request = judge_request(function, pred, kwargs)
    except UPSTREAM_ERRORS as error:
        raise UnscoredError(f"the record's evaluator {function} is broken: {error!r}") from None
    if not str(pred).strip():
        raise MalformedError("there is nothing to judge")
    reply = yield request
    if reply.verdict is None:
        raise UnscoredError(reply.error or "the judge's reply holds no verdict")
    return float(bool(reply.verdict))


def judge_request(function: str, pred: Any, kwargs: Mapping[str, Any]) -> JudgeRequest:
    """What a judged function asks: the same request in both profiles, so that one reply serves both.

    Raises TypeError for a missing keyword or an unknown function, AttributeError for references that are not text.
    """
    if function not in JUDGED:
        raise TypeError(f"unknown evaluator {function!r}")
    task, needed = JUDGED[function]
    missing = [name for name in ("question", *needed) if name not in kwargs]
    if missing:
        raise TypeError(f"{function} lacks {', '.join(missing)}")
    fields: dict[str, Any] = {"question": kwargs["question"], "answer": str(pred)}
    if "reference_answer" in needed:
        fields["reference"] = str(kwargs["reference_answer"]).strip()
    if task == "candidate_answers":
        fields["references"] = _texts(kwargs["candidate_reference_answers"])
    if "scoring_points" in needed:
        fields["points"] = _texts(kwargs["scoring_points"])
    if task == "partial_scoring_points":
        fields["count"] = min(max(1, int(kwargs.get("count", 1))), len(fields["points"]))
    if task == "formula":
        formulas = kwargs["formulas"]
        fields["formulas"] = _texts(formulas if isinstance(formulas, list) else [formulas])
    if task in ("scoring_points", "formula"):
        fields["ignore_order"] = bool(kwargs.get("ignore_order", True))
    return JudgeRequest(task=task, fields=fields)


def _all(parts: list[dict[str, Any]], pred: Any) -> Scoring:
    """Every function accepts its element. Judge-free parts first: a wrong one saves the call."""
    items = sequence(pred)
    if items is None and len(parts) == 1:
        items = [pred]
    if items is None or len(items) != len(parts):
        raise MalformedError(f"expected a list of {len(parts)}")
    unscored: UnscoredError | None = None
    for item, part in sorted(zip(items, parts, strict=True), key=lambda pair: needs_judge(pair[1])):
        try:
            if (yield from corrected_tree(part["eval_func"], item, part["eval_kwargs"])) < 0.5:
                return 0.0
        except UnscoredError as error:
            unscored = error
    if unscored is not None:
        raise unscored
    return 1.0


def _any(parts: list[dict[str, Any]], pred: Any) -> Scoring:
    """Some function accepts the prediction, or its own element where the prediction is a list of one for each."""
    items = sequence(pred)
    tries = [(pred, part) for part in parts]
    if items is not None and len(items) == len(parts):
        tries += list(zip(items, parts, strict=True))
    unscored: UnscoredError | None = None
    malformed = 0
    for item, part in sorted(tries, key=lambda pair: needs_judge(pair[1])):
        try:
            if (yield from corrected_tree(part["eval_func"], item, part["eval_kwargs"])) >= 0.5:
                return 1.0
        except MalformedError:
            malformed += 1
        except UnscoredError as error:
            unscored = error
    if unscored is not None:
        raise unscored
    if malformed == len(tries):
        raise MalformedError("no function can read the prediction")
    return 0.0


def _parts(kwargs: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The functions of a conjunction or disjunction with their keywords, as far as both lists go."""
    return [
        {"eval_func": function, "eval_kwargs": options}
        for function, options in zip(kwargs["eval_func_list"], kwargs["eval_kwargs_list"], strict=False)
    ]


def _texts(values: Any) -> list[str]:
    """Stripped texts; anything else raises AttributeError, as upstream."""
    return [value.strip() for value in values]
