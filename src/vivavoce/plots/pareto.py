"""Score against effort, one point a row, with the rows that no other beats in both."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vivavoce.errors import ConfigError
from vivavoce.plots.drawing import Drawing, figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def frontier(points: list[tuple[float, float]]) -> list[int]:
    """Positions of the points (effort, score) that no other beats in one without losing in the other."""
    return [
        index
        for index, (effort, score) in enumerate(points)
        if not any(e <= effort and s >= score and (e, s) != (effort, score) for e, s in points)
    ]


def draw(drawing: Drawing) -> Figure:
    """Options: benchmark, score (a measure), effort (a measure, default turns), profile (default corrected)."""
    options = {"effort": "turns", "profile": "corrected", **drawing.options}
    if not {"benchmark", "score"} <= set(options):
        raise ConfigError(f"plot '{drawing.title}': options benchmark and score are needed.")
    place = {"benchmark": options["benchmark"], "profile": options["profile"], "slice": "all", "policy": "failures_wrong"}
    scores = {
        (m.agent, m.model, m.judge, m.seed): m for m in drawing.select(measure=options["score"], **place) if m.value is not None
    }
    efforts = {
        (m.agent, m.model, m.judge, m.seed): m
        for m in drawing.select(measure=options["effort"], **place)
        if m.value is not None
    }
    rows = sorted(key for key in scores.keys() & efforts.keys() if key[3] in ("0", "mean"))
    points = [
        (drawing.scaled(efforts[key], efforts[key].value or 0.0), drawing.scaled(scores[key], scores[key].value or 0.0))
        for key in rows
    ]
    drawn = figure()
    axes = drawn.subplots()
    best = sorted(frontier(points), key=lambda index: points[index])
    axes.plot(
        [points[i][0] for i in best], [points[i][1] for i in best], "--", color="0.6", zorder=1, label="not beaten in both"
    )
    for (effort, score), label in _labels(rows, points).items():
        axes.plot(effort, score, "o", zorder=2)
        axes.annotate(label, (effort, score), xytext=(5, 4), textcoords="offset points", fontsize=7)
    axes.margins(x=0.2)
    axes.set(xlabel=options["effort"], ylabel=options["score"], title=drawing.title)
    if best:
        axes.legend(loc="lower right")
    return drawn


def _labels(rows: list[tuple[str, str, str, str]], points: list[tuple[float, float]]) -> dict[tuple[float, float], str]:
    """What stands beside each place: the agents there, with their model where the rows have several."""
    several = len({row[1] for row in rows}) > 1
    found: dict[tuple[float, float], list[str]] = {}
    for (agent, model, *_), point in zip(rows, points, strict=True):
        found.setdefault(point, []).append(f"{agent} · {model}" if several and model != "none" else agent)
    return {point: ", ".join(dict.fromkeys(names)) for point, names in found.items()}
