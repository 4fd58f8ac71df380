"""kill -9 of a rollout or a judge step at chosen and at random calls: resumed, it ends the same and pays for nothing twice."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.workflow
CALLS = {"rollout": 24, "judge": 12}  # twelve questions: the loop takes two calls, the judge one
SLOTS = {"rollout": 3, "judge": 2}
MOMENTS = ["first", "middle", "last", *(f"random {number}" for number in range(1, 6))]


def moment(text: str, stage: str) -> tuple[int, float]:
    """The number of the call at which to kill, and how many seconds after it came in."""
    named = {"first": 1, "middle": CALLS[stage] // 2, "last": CALLS[stage]}
    if text in named:
        return named[text], 0.0
    rng = random.Random(f"{stage} {text}")
    return rng.randint(1, CALLS[stage] - 3), rng.uniform(0.0, 0.03)


@pytest.mark.parametrize("when", MOMENTS)
@pytest.mark.parametrize("name", ["rollout", "judge"])
def test_a_killed_step_resumes(
    name: str, when: str, stage: Callable[[str], Any], examiner: Any, kill_at: Callable[..., None]
) -> None:
    step = stage(name)
    number, after = moment(when, name)
    kill_at(step.start, name, number, after)
    assert not step.output.exists(), "no output before it is whole"
    kept, asked = step.stored(), examiner.asked()
    assert number - SLOTS[name] <= len(kept) < CALLS[name]
    assert kept <= set(asked), "nothing is stored that was not asked"

    code, said = step.run()
    assert code == 0, said
    again = {body: count - asked.get(body, 0) for body, count in examiner.asked().items()}
    assert {body for body, count in again.items() if count} == set(again) - kept
    assert set(again.values()) <= {0, 1}
    assert sum(again.values()) == CALLS[name] - len(kept)
    assert step.lines() == step.expected()
    assert not list(step.folder.rglob("*.part")), "no temporary file is left"
