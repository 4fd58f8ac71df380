"""Whether printed citation and aspect numbers can be right: F1 against precision and recall, a mean against its aspects.

Source of the cases: Asai et al. 2026 (OpenScholar, Nature 650:857), Table 1 against Table 3 (spec 4.3). What roundings allow is
never flagged.
"""

from __future__ import annotations

from collections.abc import Sequence

from vivavoce.metrics.printed import Line

SLACK = 1e-9


def harmonic(precision: float, recall: float) -> float:
    """2PR / (P + R) in the units of its arguments; 0 where both are 0. Raises ValueError for a negative one."""
    if precision < 0 or recall < 0:
        raise ValueError(f"expected precision and recall of at least 0, got {precision} and {recall}")
    total = precision + recall
    return 2 * precision * recall / total if total else 0.0


def harmonic_fits(precision: float, recall: float, f1: float, decimals: int = 1) -> bool:
    """Whether an F1 printed with `decimals` can belong to a precision and recall printed so: each may be off by half a step."""
    half = 0.5 * 10.0**-decimals
    low = harmonic(max(0.0, precision - half), max(0.0, recall - half))
    high = harmonic(precision + half, recall + half)
    return low - half - SLACK <= f1 <= high + half + SLACK


def mean_fits(parts: Sequence[float], mean: float, decimals: int = 2) -> bool:
    """Whether a printed mean can belong to printed parts: the mean and the parts' mean may each be off by half a step."""
    return abs(sum(parts) / len(parts) - mean) <= 10.0**-decimals + SLACK


def f1(lines: Sequence[Line], *, precision: str, recall: str, f1: str, decimals: int = 1) -> list[str]:
    """A note for each published line whose F1 is not that of its precision and recall; the options are column labels."""
    notes = []
    for line in lines:
        values = [line.values.get(name) for name in (precision, recall, f1)]
        if line.profile != "published" or any(value is None for value in values):
            continue
        p, r, printed = (float(value) for value in values if value is not None)
        if not harmonic_fits(p, r, printed, decimals):
            notes.append(
                f"Cannot be right: {line.label}, {f1}: {printed:.{decimals}f} is printed, P {p:.{decimals}f} and "
                f"R {r:.{decimals}f} give {harmonic(p, r):.{decimals}f}."
            )
    return notes


def mean(lines: Sequence[Line], *, parts: Sequence[str], mean: str, decimals: int = 2) -> list[str]:
    """A note for each published line whose mean is not that of its parts; the options are column labels."""
    notes = []
    for line in lines:
        if line.profile != "published" or not all(name in line.values for name in (*parts, mean)):
            continue
        values, printed = [line.values[name] for name in parts], line.values[mean]
        if not mean_fits(values, printed, decimals):
            shown = ", ".join(f"{value:.{decimals}f}" for value in values)
            notes.append(
                f"Cannot be right: {line.label}, {mean}: {printed:.{decimals}f} is printed, {shown} have the mean "
                f"{sum(values) / len(values):.{decimals + 1}f}."
            )
    return notes
