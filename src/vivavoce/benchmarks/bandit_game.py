"""The button bandit as a game: arms with colour names, normal rewards, everything fixed by one key.

Source: the Gaussian button scenario of BanditBench as used by Schmied et al. 2025 (arXiv:2504.16078): mean rewards uniform in
0..1, rewards normal about them with one standard deviation. What a press at a step yields does not depend on what was pressed
before, so that players meet the same luck. Rewards have two decimals: what the player is shown is what counts.
"""

from __future__ import annotations

from random import Random
from statistics import NormalDist

COLOURS = [
    "blue",
    "green",
    "red",
    "yellow",
    "purple",
    "orange",
    "pink",
    "brown",
    "black",
    "white",
    "gray",
    "cyan",
    "magenta",
    "teal",
    "maroon",
    "olive",
    "navy",
    "coral",
    "violet",
    "beige",
]


class Game:
    """One instance. `key` names it and seeds all of its numbers; only code derives means and rewards from it."""

    def __init__(self, key: str, arms: int, sigma: float) -> None:
        self.key, self.sigma = key, sigma
        self.arms = COLOURS[:arms]
        source = Random(f"{key}/means")  # noqa: S311 - a game, not a secret
        self.means = [source.random() for _ in self.arms]

    def rewards(self, step: int) -> list[float]:
        """What each arm yields if it is pressed at a step (0, 1, ...), rounded to two decimals."""
        source = Random(f"{self.key}/rewards/{step}")  # noqa: S311
        noise = [NormalDist().inv_cdf(max(source.random(), 2**-53)) for _ in self.arms]
        return [round(mean + self.sigma * z, 2) + 0.0 for mean, z in zip(self.means, noise, strict=True)]
