"""The graders: both profiles from the same replies, failures, and the measures of effort."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vivavoce.grading import airqa, m3sciqa
from vivavoce.grading.base import Derived, Macro, Statistic
from vivavoce.grading.common import PROFILES, effort, failed, i_avg, outcome
from vivavoce.judges.base import run_grading
from vivavoce.metrics.iavg import i_avg as discounted
from vivavoce.metrics.iavg import i_max_of
from vivavoce.metrics.turns import error_rate, longest_repeat, stuck
from vivavoce.records import Judgement, JudgeReply, JudgeRequest, Question, Rollout, Turn, Usage

STRING = {"eval_func": "eval_string_exact_match", "eval_kwargs": {"gold": "TIRG"}}
JUDGED = {"eval_func": "eval_reference_answer_with_llm", "eval_kwargs": {"reference_answer": "r", "question": "q"}}
BOTH = {
    "eval_func": "eval_conjunction",
    "eval_kwargs": {
        "eval_func_list": ["eval_reference_answer_with_llm", "eval_string_exact_match"],
        "eval_kwargs_list": [JUDGED["eval_kwargs"], STRING["eval_kwargs"]],
    },
}
YES = JudgeReply(text="It is.\n```txt\nTrue\n```", verdict=True, calls=("k",))
DOWN = JudgeReply(text="", error="no connection")


class Scripted:
    """A judge that always gives one reply and remembers what it was asked."""

    name = "scripted"

    def __init__(self, reply: JudgeReply) -> None:
        self.reply = reply
        self.asked: list[JudgeRequest] = []

    async def ask(self, request: JudgeRequest) -> JudgeReply:
        self.asked.append(request)
        return self.reply


def question(evaluator: dict[str, Any], **gold: Any) -> Question:
    return Question(id="q", benchmark="airqa", task="airqa", text="?", gold={"evaluator": evaluator, **gold})


def rollout(answer: str | None = "TIRG", **fields: Any) -> Rollout:
    return Rollout(
        **{"question_id": "q", "agent": "a", "model": "m", "seed": 0, "outcome": "answered", "answer": answer, **fields}
    )


async def accuracy(
    evaluator: dict[str, Any], answered: Rollout, reply: JudgeReply = YES, grader: Any = airqa, **gold: Any
) -> tuple[Judgement, Judgement, list[JudgeRequest]]:
    """The judgement as published, the corrected one, and what the judge was asked."""
    judge = Scripted(reply)
    judgements = await run_grading(grader.grade(question(evaluator, **gold), answered), judge)
    published, corrected = (
        next(item for item in judgements if item.measure == "accuracy" and item.profile == profile) for profile in PROFILES
    )
    return published, corrected, judge.asked


async def test_one_reply_serves_both_profiles() -> None:
    published, corrected, asked = await accuracy(JUDGED, rollout("p"))
    assert (published.value, corrected.value) == (1.0, 1.0)
    assert published.calls == corrected.calls == ("k",)
    assert asked == [JudgeRequest(task="reference_answer", fields={"question": "q", "answer": "p", "reference": "r"})]


async def test_a_verdict_outside_the_published_form_counts_only_corrected() -> None:
    published, corrected, _ = await accuracy(JUDGED, rollout("p"), JudgeReply(text="True", verdict=True))
    assert (published.value, corrected.value) == (0.0, 1.0)


async def test_an_unparsable_verdict_is_zero_as_published_and_unscored_corrected() -> None:
    published, corrected, _ = await accuracy(JUDGED, rollout("p"), JudgeReply(text="Hm.", error="no verdict"))
    assert (published.status, published.value) == ("scored", 0.0)
    assert (corrected.status, corrected.value, corrected.reason) == ("unscored", None, "no verdict")


@pytest.mark.parametrize("evaluator", [JUDGED, {"eval_func": "eval_negation", "eval_kwargs": JUDGED}])
async def test_a_judge_that_is_down_leaves_both_unscored(evaluator: dict[str, Any]) -> None:
    published, corrected, _ = await accuracy(evaluator, rollout("p"), DOWN)
    assert published.status == corrected.status == "unscored"
    assert published.value is None
    assert "no connection" in published.reason


async def test_a_conjunction_asks_only_where_the_rest_is_right() -> None:
    published, corrected, asked = await accuracy(BOTH, rollout("['p', 'TIRG']"))
    assert (published.value, corrected.value, len(asked)) == (1.0, 1.0, 1)
    published, corrected, asked = await accuracy(BOTH, rollout("['p', 'x']"))
    assert (published.value, corrected.value, len(asked)) == (0.0, 0.0, 1)  # published asks in the order of the parts
    published, corrected, asked = await accuracy(BOTH, rollout("['p']"))
    assert (published.value, corrected.value, len(asked)) == (0.0, 0.0, 0)


async def test_a_wrong_part_decides_though_the_judge_is_down() -> None:
    published, corrected, _ = await accuracy(BOTH, rollout("['p', 'x']"), DOWN)
    assert published.status == "unscored"
    assert (corrected.status, corrected.value) == ("scored", 0.0)


async def test_a_limit_is_scored_on_the_last_observation_as_published() -> None:
    ended = rollout(None, outcome="limit", reason="20 turns", turns=(Turn(action="a"), Turn(action="b", observation="TIRG")))
    published, corrected, _ = await accuracy(STRING, ended)
    assert (published.value, published.outcome) == (1.0, "limit")
    assert (corrected.value, corrected.outcome, corrected.reason) == (0.0, "limit", "20 turns")


@pytest.mark.parametrize("ending", ["invalid", "refused", "error"])
async def test_other_failures_are_zero_and_not_judged(ending: str) -> None:
    published, corrected, asked = await accuracy(JUDGED, rollout(None, outcome=ending, reason="why"))
    assert (published.value, corrected.value, published.outcome, published.reason, asked) == (0.0, 0.0, ending, "why", [])


@pytest.mark.parametrize("answer", ["", " \n", None])
async def test_a_blank_answer_is_invalid_and_not_judged(answer: str | None) -> None:
    published, corrected, asked = await accuracy({"eval_func": "eval_negation", "eval_kwargs": JUDGED}, rollout(answer))
    assert (published.value, corrected.value, published.outcome, asked) == (0.0, 0.0, "invalid", [])


async def test_errata_repair_the_corrected_profile_alone() -> None:
    evaluator = {"eval_func": "eval_float_exact_match", "eval_kwargs": {"gold": 10.5, "ndigits": 1, "tolerance": 0.6}}
    repair = [{"kind": "over_lenient", "kwargs": {"tolerance": 1e-6, "abs_tolerance": 0.6, "ndigits": None}}]
    for answer, expected in (("26", (1.0, 0.0)), ("11", (1.0, 1.0)), ("10.5", (1.0, 1.0))):
        published, corrected, _ = await accuracy(evaluator, rollout(answer), errata=repair)
        assert (published.value, corrected.value) == expected


@pytest.mark.parametrize(
    ("text", "verdict", "expected"),
    [
        ('{"selection": "0.5"}', {"selection": "0.5"}, (0.5, 0.5)),
        ('{"selection": "7"}', None, (7.0, None)),
        ("1", None, (0.0, None)),
        ("", None, (None, None)),
    ],
)
async def test_m3sciqa(text: str, verdict: Any, expected: tuple[float | None, float | None]) -> None:
    evaluator = {"eval_func": "eval_m3sciqa", "eval_kwargs": {"question": "q", "reference_answer": "r"}}
    reply = JudgeReply(text=text, verdict=verdict, error="" if verdict else "none")
    published, corrected, asked = await accuracy(evaluator, rollout("p"), reply, grader=m3sciqa)
    assert (published.value, corrected.value) == expected
    assert len(asked) == 1


SEARCH = Turn(action="ClassicRetrieve", arguments={"query": "BERT  size", "limit": 5})
AGAIN = Turn(action="ClassicRetrieve", arguments={"limit": 5.0, "query": "bert size"})
FAILED = Turn(thought="Let me see.", error="no action")


def test_loops() -> None:
    assert longest_repeat(()) == 0
    assert longest_repeat((SEARCH, FAILED, AGAIN, Turn(action="GenerateAnswer"))) == 2
    assert longest_repeat((FAILED, FAILED, Turn(thought="Other.", error="no action"))) == 2
    assert stuck((SEARCH, AGAIN, SEARCH), valid=False)
    assert not stuck((SEARCH, AGAIN, SEARCH), valid=True)
    assert not stuck((SEARCH, AGAIN), valid=False)
    assert stuck((SEARCH, AGAIN), valid=False, at=2)
    assert error_rate((SEARCH, FAILED)) == 0.5
    assert error_rate(()) == 0.0


def _effort(answered: Rollout) -> dict[str, float | None]:
    return {item.measure: item.value for item in effort(answered) if item.profile == "corrected"}


def test_effort_of_a_loop() -> None:
    usage = Usage(calls=3, prompt_tokens=10, completion_tokens=4, cost=None)
    ended = rollout(None, outcome="limit", turns=(SEARCH, AGAIN, FAILED), usage=usage, extra={"turn_cap": 3})
    assert _effort(ended) == {
        "valid": 0.0,
        "within_cap": 1.0,  # the seed recipe's measure, which a capped loop cannot fail
        "turns": 3.0,
        "turn_cap": 3.0,
        "error_actions": 1 / 3,
        "longest_repeat": 2.0,
        "stuck": 0.0,
        "prompt_tokens": 10.0,
        "completion_tokens": 4.0,
        "cost": None,
    }


def test_effort_that_is_not_known_has_no_value() -> None:
    known = _effort(rollout())
    assert {name for name, value in known.items() if value is not None} == {"valid", "turn_cap"}
    one_call = _effort(rollout(usage=Usage(calls=1, prompt_tokens=5)))
    assert (one_call["turns"], one_call["within_cap"], one_call["stuck"]) == (1.0, 1.0, None)


def test_every_measure_of_effort_is_judged_and_declared() -> None:
    declared = {
        (spec.name, p) for spec in airqa.MEASURES for p in spec.profiles if not isinstance(spec, (Derived, Statistic, Macro))
    }
    judged = {(item.measure, item.profile) for item in effort(rollout())} | {("accuracy", profile) for profile in PROFILES}
    assert declared == judged


def test_outcomes() -> None:
    assert outcome(rollout("a")) == "answered"
    assert outcome(rollout(" ")) == "invalid"
    assert outcome(rollout(None, outcome="error")) == "error"
    assert not failed(rollout("a"))


@pytest.mark.parametrize(
    ("average", "turns", "cap", "expected"),  # the specification's table of PaperGuide's I-Avg
    [
        (30.7, 3.59, 10, 24.58),
        (30.7, 3.59, 20, 27.81),
        (30.7, 3.59, 100, 30.14),
        (37.3, 3.61, 20, 33.77),
        (29.3, 4.45, 10, 21.83),
        (29.3, 20.0, 20, 0.0),
        (29.3, 25.0, 20, 0.0),
    ],
)
def test_i_avg(average: float, turns: float, cap: float, expected: float) -> None:
    assert float(discounted(average, turns, cap)) == pytest.approx(expected, abs=0.005)


def test_i_avg_names_a_cap_that_is_none() -> None:
    with pytest.raises(ValueError, match="above 0"):
        discounted(1, 1, 0)
    assert np.isnan(discounted(float("nan"), 1, 20))


@given(st.floats(1, 100), st.floats(0.5, 9), st.sampled_from([10, 20, 100]))
def test_i_max_is_found_again(average: float, turns: float, cap: int) -> None:
    assert i_max_of(average, float(discounted(average, turns, cap)), turns) == pytest.approx(cap)


def test_i_avg_measures_combine_means_of_any_shape() -> None:
    means = {"accuracy": np.array([0.5, 0.4]), "turns": np.array([5.0, 20.0]), "turn_cap": np.array([20.0, 20.0])}
    by_name = {spec.name: spec for spec in i_avg()}
    assert set(by_name) == {"i_avg", "i_avg_10", "i_avg_20", "i_avg_100"}
    assert by_name["i_avg"].combine(means) == pytest.approx([0.5 * 0.75**0.5, 0.0])
    assert by_name["i_avg_10"].combine({name: np.asarray(value[0]) for name, value in means.items()}) == pytest.approx(0.5**1.5)
