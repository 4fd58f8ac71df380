"""Which share of questions got no answer: a bar a model, a panel a configuration, stacked by how the questions ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vivavoce.config.base import Frozen
from vivavoce.plots.drawing import Drawing, figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Options(Frozen):
    """`measure` is any measure that every question has; `outcomes` names those that are drawn, in stacking order."""

    benchmark: str
    measure: str
    agents: dict[str, str]
    outcomes: dict[str, str] = {"invalid": "invalid", "refused": "refused", "limit": "limit", "error": "error"}


def draw(drawing: Drawing) -> Figure:
    """Models without a row in a configuration say so."""
    options = drawing.checked(Options)
    found = {
        (item.agent, item.model): item
        for item in drawing.select(
            benchmark=options.benchmark,
            measure=options.measure,
            profile="corrected",
            slice="all",
            policy="failures_wrong",
            seed="0",
        )
    }
    models = sorted({model for agent, model in found if agent in options.agents}, reverse=True)
    height = max(2.5, 0.24 * len(models) + 1.2)
    drawn = figure(2.4 * len(options.agents) + 2, height)
    panels = drawn.subplots(1, len(options.agents), sharey=True, squeeze=False)[0]
    for axes, (agent, name) in zip(panels, options.agents.items(), strict=True):
        left = [0.0] * len(models)
        for colour, (outcome, label) in enumerate(options.outcomes.items()):
            shares = [_share(found.get((agent, model)), outcome) for model in models]
            axes.barh(models, shares, left=left, color=f"C{colour}", label=label)
            left = [before + share for before, share in zip(left, shares, strict=True)]
        for place, model in enumerate(models):
            if (agent, model) not in found:
                axes.annotate("no file", (1, place), va="center", fontsize=6.5, color="0.5")
            elif left[place] >= 0.5:
                inside = left[place] > 75
                axes.annotate(
                    f"{left[place]:.0f}",
                    (left[place] + (-1.5 if inside else 1.5), place),
                    va="center",
                    ha="right" if inside else "left",
                    fontsize=7,
                    color="white" if inside else "black",
                )
        axes.set(xlim=(0, 100), title=name, xlabel="% of questions")
        axes.tick_params(axis="y", labelsize=8)
        axes.grid(visible=False, axis="y")
    drawn.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(options.outcomes))
    drawn.suptitle(drawing.title)
    return drawn


def _share(item: object, outcome: str) -> float:
    if item is None:
        return 0.0
    total = sum(getattr(item, f"n_{name}") for name in ("answered", "limit", "invalid", "refused", "error"))
    return 100 * float(getattr(item, f"n_{outcome}")) / total if total else 0.0
