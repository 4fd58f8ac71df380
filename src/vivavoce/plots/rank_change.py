"""Rank as published against rank corrected: a line a model, a panel a configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vivavoce.config.base import Frozen
from vivavoce.plots.drawing import Drawing, figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Options(Frozen):
    """The measure that ranks under each profile, and the configurations by name."""

    benchmark: str
    as_published: str
    corrected: str
    agents: dict[str, str]


def draw(drawing: Drawing) -> Figure:
    """Red falls, blue rises, grey stays; the wider, the more places."""
    options = drawing.checked(Options)
    drawn = figure(3.6 * len(options.agents), 5.6)
    panels = drawn.subplots(1, len(options.agents), squeeze=False)[0]
    for axes, (agent, name) in zip(panels, options.agents.items(), strict=True):
        old = _ranks(drawing, options.benchmark, agent, "as_published", options.as_published)
        new = _ranks(drawing, options.benchmark, agent, "corrected", options.corrected)
        for model in sorted(old.keys() & new.keys()):
            change = old[model] - new[model]
            colour = "0.65" if not change else "C0" if change > 0 else "C3"
            axes.plot([0, 1], [old[model], new[model]], "-o", ms=3, color=colour, lw=0.8 + 0.25 * min(abs(change), 8))
            axes.annotate(f"{model}  {old[model]}", (-0.06, old[model]), ha="right", va="center", fontsize=7)
            axes.annotate(f"{new[model]}  {model}", (1.06, new[model]), ha="left", va="center", fontsize=7)
        axes.set(xlim=(-1.5, 2.5), ylim=(max(len(old), 1) + 0.6, 0.4), title=name, xticks=[0, 1], yticks=[])
        axes.set_xticklabels(["as published", "corrected"], fontsize=8)
        axes.grid(visible=False)
        axes.spines[:].set_visible(False)
    drawn.suptitle(drawing.title)
    return drawn


def _ranks(drawing: Drawing, benchmark: str, agent: str, profile: str, measure: str) -> dict[str, int]:
    found = drawing.select(
        benchmark=benchmark, agent=agent, profile=profile, measure=measure, slice="all", policy="failures_wrong", seed="0"
    )
    values = {item.model: item.value for item in found if item.value is not None}
    return {model: rank for rank, model in enumerate(sorted(values, key=lambda name: (-values[name], name)), 1)}
