"""How long answers are against how they score: one panel a measure, one numbered point a row, one colour a configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vivavoce.config.base import Frozen
from vivavoce.plots.drawing import Drawing, figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Options(Frozen):
    """`length` and `scores` are measures; `agents` gives each configuration its name in the legend."""

    benchmark: str
    scores: dict[str, str]  # measure -> label
    agents: dict[str, str]
    length: str = "answer_tokens"
    label: str = "tokens of an answer (mean)"
    profile: str = "corrected"


def draw(drawing: Drawing) -> Figure:
    """Failures count as answers of no length that score 0."""
    options = drawing.checked(Options)
    place = {
        "benchmark": options.benchmark,
        "profile": options.profile,
        "slice": "all",
        "policy": "failures_wrong",
        "seed": "0",
    }
    values = {
        measure: {
            (m.agent, m.model): drawing.scaled(m, m.value)
            for m in drawing.select(measure=measure, **place)
            if m.value is not None
        }
        for measure in (options.length, *options.scores)
    }
    rows = sorted(row for row in values[options.length] if row[0] in options.agents)
    numbers = {model: number for number, model in enumerate(sorted({model for _, model in rows}), 1)}
    drawn = figure(4 * len(options.scores) + 2, 4.6)
    panels = drawn.subplots(1, len(options.scores), squeeze=False)[0]
    for axes, (measure, label) in zip(panels, options.scores.items(), strict=True):
        for place_, (agent, name) in enumerate(options.agents.items()):
            own = [row for row in rows if row[0] == agent and row in values[measure]]
            points = [(values[options.length][row], values[measure][row]) for row in own]
            axes.plot(
                [x for x, _ in points], [y for _, y in points], "o", ms=11, color=f"C{place_}", alpha=0.55, mew=0, label=name
            )
            for row, point in zip(own, points, strict=True):
                axes.annotate(str(numbers[row[1]]), point, ha="center", va="center", fontsize=6.5)
        axes.set(xlabel=options.label, title=label)
    panels[0].set_ylabel("percent")
    colours = panels[0].get_legend_handles_labels()
    blank = [panels[0].plot([], [], " ")[0] for _ in numbers]
    drawn.legend(
        [*colours[0], *blank],
        [*colours[1], *(f"{number}  {model}" for model, number in numbers.items())],
        loc="outside right center",
        fontsize=7.5,
        markerscale=0.7,
        handlelength=1,
    )
    drawn.suptitle(drawing.title)
    return drawn
