"""Draws a paper's figure with matplotlib: a `figure` block's numbers -> PNG bytes, the same on every run."""

from __future__ import annotations

import io
from typing import Any

import matplotlib

matplotlib.use("Agg")
from matplotlib.figure import Figure
from PIL import Image

COLOURS = ("#1f4e79", "#c55a11", "#3b7d3b", "#7a3b8f", "#808080")
MARKERS = ("o", "s", "^", "D", "v")


def draw(chart: dict[str, Any], width: float, height: float) -> bytes:
    """PNG at 170 dpi of `width` x `height` inches. `kind`: line, bar (grouped) or scatter."""
    with matplotlib.rc_context({"font.family": "STIXGeneral", "font.size": 9, "mathtext.fontset": "stix"}):
        figure = Figure(figsize=(width, height), layout="constrained")
        axes = figure.subplots()
        series = chart["series"]
        for index, (name, values) in enumerate(series.items()):
            style = {"color": COLOURS[index], "label": name}
            if chart["kind"] == "bar":
                share = 0.8 / len(series)
                places = [place - 0.4 + share * (index + 0.5) for place in range(len(chart["x"]))]
                axes.bar(places, values, share * 0.92, **style)
            elif chart["kind"] == "scatter":
                axes.scatter(
                    chart["x"] if not isinstance(values, dict) else values["x"],
                    values if not isinstance(values, dict) else values["y"],
                    s=20,
                    marker=MARKERS[index],
                    **style,
                )
            else:
                axes.plot(chart["x"], values, marker=MARKERS[index], markersize=4, linewidth=1.3, **style)
        if chart["kind"] == "bar":
            axes.set_xticks(range(len(chart["x"])), chart["x"])
        elif chart["kind"] == "line":
            axes.set_xticks(chart["x"], [str(value) for value in chart["x"]])
        axes.set_xlabel(chart["xlabel"])
        axes.set_ylabel(chart["ylabel"])
        if "ylim" in chart:
            axes.set_ylim(*chart["ylim"])
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="y", linewidth=0.4, color="#cccccc")
        axes.set_axisbelow(True)
        if len(series) > 1:
            axes.legend(frameon=False, fontsize=8, loc=chart.get("legend", "best"))
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", dpi=170, metadata={"Software": None})
    opaque = io.BytesIO()
    Image.open(buffer).convert("RGB").save(opaque, format="png")  # without the alpha channel, which a PDF would keep as a mask
    return opaque.getvalue()
