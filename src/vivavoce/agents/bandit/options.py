"""Options of the bandit player."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from vivavoce.agents.options import Options

FORMULAS = {
    "unnamed": "",
    "two_log": "mean + sqrt(2 ln(t) / n)",
    "half_log": "mean + sqrt(0.5 ln(t) / n)",
    "no_log": "mean + sqrt(1 / n)",
}


class BanditPlayerOptions(Options):
    """How the game is played and told."""

    horizon: int = Field(default=0, ge=0, description="most steps played; 0: all that the game has")
    constant: Literal["unnamed", "two_log", "half_log", "no_log"] = Field(
        default="unnamed", description="the formula that the prompt names; unnamed, as published: the model must know one"
    )
    history: Literal["raw", "summary"] = Field(
        default="raw", description="raw: every press, as published; summary: presses and mean of each button"
    )
