"""What every grader shares: how a rollout failed, judgements for both profiles, and the measures of effort."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from vivavoce.grading.base import Derived, Means, MeasureSpec, Statistic, Value
from vivavoce.metrics.iavg import PRESETS
from vivavoce.metrics.iavg import i_avg as discounted
from vivavoce.metrics.turns import error_rate, longest_repeat, stuck
from vivavoce.records import Judgement, JudgeReply, Outcome, Profile, Rollout

PROFILES: tuple[Profile, ...] = ("as_published", "corrected")


def outcome(rollout: Rollout) -> Outcome:
    """How the rollout ended; one that "answered" with nothing but blanks is `invalid`."""
    blank = rollout.answer is None or not rollout.answer.strip()
    return "invalid" if rollout.outcome == "answered" and blank else rollout.outcome


def failed(rollout: Rollout) -> bool:
    """Whether there is no answer to grade (see `outcome`)."""
    return outcome(rollout) != "answered"


def judgement(
    rollout: Rollout,
    measure: str,
    profile: Profile,
    value: float | bool | None,
    *,
    reason: str = "",
    detail: dict[str, Any] | None = None,
    replies: Sequence[JudgeReply] = (),
    unscored: bool = False,
) -> Judgement:
    """One judgement of a rollout, with its outcome; `unscored` (a judge failed) drops the value."""
    return Judgement(
        question_id=rollout.question_id,
        measure=measure,
        profile=profile,
        outcome=outcome(rollout),
        status="unscored" if unscored else "scored",
        value=None if unscored or value is None else float(value),
        reason=reason,
        detail=detail or {},
        calls=tuple(dict.fromkeys(call for reply in replies for call in reply.calls)),
    )


def both(
    rollout: Rollout,
    measure: str,
    value: float | bool | None,
    *,
    reason: str = "",
    detail: dict[str, Any] | None = None,
    replies: Sequence[JudgeReply] = (),
    unscored: bool = False,
) -> list[Judgement]:
    """The same judgement under both profiles."""
    return [
        judgement(rollout, measure, p, value, reason=reason, detail=detail, replies=replies, unscored=unscored)
        for p in PROFILES
    ]


def failure(rollout: Rollout, *measures: str, value: float = 0.0) -> list[Judgement]:
    """What a failed rollout gets: `value` for each measure under both profiles, with the reason of the failure."""
    reason = rollout.reason or f"no answer to grade: {outcome(rollout)}"
    return [item for measure in measures for item in both(rollout, measure, value, reason=reason)]


def turn_count(rollout: Rollout) -> int | None:
    """Turns taken; an agent without a loop took one where it called a model. None where nothing is known (imported answers)."""
    return len(rollout.turns) or (1 if rollout.usage.calls else None)


def turn_cap(rollout: Rollout) -> float | None:
    """The most turns that the agent had: `rollout.extra["turn_cap"]`, 1 for agents without a loop; None for imported runs."""
    if rollout.extra.get("trajectory") and not rollout.extra.get("turn_cap"):
        return None
    return float(rollout.extra.get("turn_cap") or 1)


def effort(rollout: Rollout) -> list[Judgement]:
    """The judgements of EFFORT's values for one rollout; what is not known has no value."""
    turns, cap, valid = turn_count(rollout), turn_cap(rollout), not failed(rollout)
    known = bool(rollout.turns)
    usage = rollout.usage
    counted = usage.calls > 0
    shared: dict[str, float | None] = {
        "valid": float(valid),
        "within_cap": None if turns is None or cap is None else float(turns <= cap),
        "turns": turns,
        "turn_cap": cap,
        "error_actions": error_rate(rollout.turns) if known else None,
        "longest_repeat": longest_repeat(rollout.turns) if known else None,
        "stuck": float(stuck(rollout.turns, valid)) if known else None,
    }
    spent: dict[str, float | None] = {
        "prompt_tokens": usage.prompt_tokens if counted else None,
        "completion_tokens": usage.completion_tokens if counted else None,
        "cost": usage.cost if counted else None,
    }
    judgements = [item for name, value in shared.items() for item in both(rollout, name, value)]
    return judgements + [judgement(rollout, name, "corrected", value) for name, value in spent.items()]


def i_avg(score: str = "accuracy") -> tuple[Derived, ...]:
    """I-Avg of a score measure: `i_avg` with the run's turn cap as I_max (measure `turn_cap`), and presets `i_avg_10` ..."""
    own = Derived(name="i_avg", inputs=(score, "turns", "turn_cap"), combine=_i_avg(score, None))
    return own, *(Derived(name=f"i_avg_{cap}", inputs=(score, "turns"), combine=_i_avg(score, cap)) for cap in PRESETS)


def _i_avg(score: str, i_max: float | None) -> Callable[[Means], npt.NDArray[np.float64]]:
    def combine(means: Means) -> npt.NDArray[np.float64]:
        return discounted(means[score], means["turns"], means["turn_cap"] if i_max is None else i_max)

    return combine


def _percentile(share: float) -> Callable[[npt.NDArray[np.float64]], float]:
    return lambda values: float(np.percentile(values, share))


EFFORT: tuple[MeasureSpec, ...] = (
    Value(name="valid"),
    Value(name="within_cap"),
    Value(name="turns", kind="mean", scale=1, higher_is_better=False),
    Statistic(name="turns_median", input="turns", compute=_percentile(50), scale=1, higher_is_better=False),
    Statistic(name="turns_p95", input="turns", compute=_percentile(95), scale=1, higher_is_better=False),
    Value(name="turn_cap", kind="mean", scale=1),
    Value(name="error_actions", kind="mean", higher_is_better=False),
    Value(name="longest_repeat", kind="mean", scale=1, higher_is_better=False),
    Value(name="stuck", higher_is_better=False),
    Value(name="prompt_tokens", kind="mean", scale=1, higher_is_better=False, profiles=("corrected",)),
    Value(name="completion_tokens", kind="mean", scale=1, higher_is_better=False, profiles=("corrected",)),
    Value(name="cost", kind="mean", scale=1, higher_is_better=False, profiles=("corrected",)),
)
