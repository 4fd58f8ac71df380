"""`conf/plot/*.yaml`: a figure that an experiment draws from its measures."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from vivavoce.config.base import Strict


class PlotConfig(Strict):
    """One figure. `draw` is `module:function`, called with a `plots.Drawing`; `options` are its own."""

    name: str
    title: str
    draw: str = Field(pattern=r"^[\w.]+:\w+$")
    options: dict[str, Any] = {}
