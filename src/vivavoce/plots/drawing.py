"""What a figure is drawn from, and how it is saved reproducibly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from pydantic import BaseModel

from vivavoce.config.base import checked
from vivavoce.grading.base import MeasureSpec
from vivavoce.records import Measure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

T = TypeVar("T", bound=BaseModel)
Specs = Mapping[str, Mapping[str, MeasureSpec]]


class Drawing(msgspec.Struct, frozen=True, kw_only=True):
    """What a `draw` function gets: the measures of the experiment, the specification of each measure, its own options."""

    title: str
    measures: Sequence[Measure]
    specs: Specs
    options: Mapping[str, Any]

    def select(self, **fields: str) -> list[Measure]:
        """The measures whose fields have these values."""
        return [item for item in self.measures if all(getattr(item, name) == value for name, value in fields.items())]

    def scaled(self, item: Measure, value: float) -> float:
        """A value of a measure in print units."""
        return value * self.specs[item.benchmark][item.measure].scale

    def checked(self, options: type[T]) -> T:
        """The figure's options by the model of who draws it. Raises ConfigError that names the keys."""
        return checked(options, self.options, f"plot '{self.title}'")


def figure(width: float = 7.0, height: float = 4.5) -> Figure:
    """An empty figure in the project's style, drawn without a screen."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams.update(
        {"svg.hashsalt": "vivavoce", "svg.fonttype": "path", "font.size": 9, "axes.grid": True, "grid.alpha": 0.3}
    )
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def save(drawn: Figure, svg: Path) -> list[Path]:
    """Write the figure as SVG and PNG, without dates or versions in them."""
    svg.parent.mkdir(parents=True, exist_ok=True)
    png = svg.with_suffix(".png")
    drawn.savefig(png, dpi=150, metadata={"Software": None})
    drawn.savefig(svg, metadata={"Date": None, "Creator": None})
    return [svg, png]
