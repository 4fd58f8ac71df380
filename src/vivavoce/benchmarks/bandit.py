"""The bandit probe as a benchmark: each instance of the game is a question, made from a seed without any file.

Source: Schmied et al. 2025 (arXiv:2504.16078), spec/paperguide.md section 8. `extra` holds what the playing agent needs; of it
only colours and horizon enter a prompt. `gold` holds means and the reward of every (step, arm).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, ValidationError

from vivavoce.benchmarks.bandit_game import COLOURS, Game
from vivavoce.config.base import Frozen
from vivavoce.errors import ConfigError
from vivavoce.records import Question

Arms = Annotated[int, Field(ge=2, le=len(COLOURS))]
Sigma = Annotated[float, Field(ge=0, le=1000)]


class BanditOptions(Frozen):
    """`options` of conf/benchmark/bandit_*.yaml: every number of arms with every standard deviation."""

    arms: list[Arms] = Field(default=[10], min_length=1)
    sigma: list[Sigma] = Field(default=[1.0], min_length=1)
    horizon: int = Field(default=50, ge=1, le=1000)
    instances: int = Field(default=64, ge=1, le=10_000)  # of each combination
    seed: int = Field(default=0, ge=0)


def read(files: Mapping[str, Path], options: Mapping[str, Any]) -> Iterator[Question]:
    """Yield the instances; the first ones cover all combinations. Where there are several, slices name arms
    and deviation: k10, s1, k10_s1.

    Raises ConfigError for a wrong option.
    """
    try:
        chosen = BanditOptions.model_validate(dict(options))
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors())
        known = ", ".join(BanditOptions.model_fields)
        raise ConfigError(f"conf/benchmark: options of the bandit: {faults}. Known options are {known}.") from None
    for number in range(chosen.instances):
        for arms in chosen.arms:
            for sigma in chosen.sigma:
                yield _question(chosen, number, arms, sigma)


def _question(chosen: BanditOptions, number: int, arms: int, sigma: float) -> Question:
    kind = f"k{arms}_s{sigma:g}"
    identity = f"{kind}_{number:03d}"
    game = Game(f"{chosen.seed}/{identity}", arms, sigma)
    return Question(
        id=identity,
        benchmark="bandit",
        task="bandit",
        text=f"Press one of {arms} buttons at each of {chosen.horizon} steps, and collect as much reward as you can.",
        answer_format="the name of a button at each step",
        slices=(f"k{arms}", f"s{sigma:g}", kind) if len(chosen.arms) * len(chosen.sigma) > 1 else (),
        gold={"means": game.means, "rewards": [game.rewards(step) for step in range(chosen.horizon)]},
        extra={"game": game.key, "arms": game.arms, "sigma": sigma, "horizon": chosen.horizon},
    )
