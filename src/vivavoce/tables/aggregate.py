"""From judgements to measures: each measure on each slice, under both profiles and both policies, with its interval."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from vivavoce.grading.base import Derived, Macro, MeasureSpec, Statistic, Value
from vivavoce.metrics.intervals import Interval, bootstrap, percentile_interval, proportion, resampled_means
from vivavoce.records import Measure, Policy, Profile
from vivavoce.tables.sample import OUTCOMES, Column, Questions, Sample

POLICIES: tuple[Policy, ...] = ("failures_wrong", "failures_excluded")
ANSWERED = OUTCOMES.index("answered")
NONE: Interval = (float("nan"), float("nan"))
Line = Callable[..., Measure]


def aggregate(sample: Sample, questions: Questions, specs: Sequence[MeasureSpec], line: Line) -> Iterator[Measure]:
    """All measures of one rollout; `line` is a `Measure` with the names of the row filled in.

    A measure that no judgement mentions (an unused judge's) gives no line; a slice without a question neither.
    """
    for name, mask in questions.slices.items():
        for profile in ("as_published", "corrected"):
            for policy in POLICIES:
                view = _View(sample, questions, specs, profile, policy, mask)
                for spec in specs:
                    if profile in spec.profiles and (cell := view.cell(spec)) is not None:
                        yield line(profile=profile, policy=policy, measure=spec.name, slice=name, **cell)


def mean_over_seeds(measures: Iterable[Measure]) -> Iterator[Measure]:
    """For rows with several seeds: the mean over seeds, with the range of the seeds' values as its interval."""
    groups: dict[tuple[str, ...], list[Measure]] = {}
    for item in measures:
        key = (item.benchmark, item.agent, item.model, item.judge, item.profile, item.policy, item.measure, item.slice)
        groups.setdefault(key, []).append(item)
    for group in groups.values():
        values = [item.value for item in group if item.value is not None]
        if len(group) > 1 and values:
            first = group[0]
            counts = {
                field: sum(getattr(item, field) for item in group)
                for field in Measure.__struct_fields__
                if field.startswith("n")
            }
            yield Measure(
                **{field: getattr(first, field) for field in ("experiment", "benchmark", "agent", "model", "judge", "profile")},
                measure=first.measure,
                slice=first.slice,
                policy=first.policy,
                seed="mean",
                value=sum(values) / len(values),
                ci_low=min(values),
                ci_high=max(values),
                **counts,
            )


class _View:
    """One slice under one profile and policy."""

    def __init__(
        self,
        sample: Sample,
        questions: Questions,
        specs: Sequence[MeasureSpec],
        profile: Profile,
        policy: Policy,
        mask: NDArray[np.bool_],
    ) -> None:
        self.sample, self.profile, self.policy, self.mask = sample, profile, policy, mask
        self.slices = {name: inside[mask] for name, inside in questions.slices.items()}
        self.clusters = questions.clusters[mask]
        self.outcome = sample.outcome[mask]
        self.worst = {spec.name: spec.worst for spec in specs if isinstance(spec, Value)}
        means = [spec.name for spec in specs if isinstance(spec, Value) and spec.kind == "mean" and self._column(spec.name)]
        self.resampled: Mapping[str, NDArray[np.float64]] = {}
        if means and mask.any():
            drawn = resampled_means(np.column_stack([self.values(name) for name in means]), self.clusters)
            self.resampled = {name: drawn[:, index] for index, name in enumerate(means)}

    def values(self, measure: str) -> NDArray[np.float64]:
        """The values that count, NaN elsewhere."""
        column = self._column(measure)
        if column is None:
            return np.full(int(self.mask.sum()), np.nan)
        value, unscored = column.value[self.mask], column.unscored[self.mask]
        if self.policy == "failures_wrong":
            return np.where(unscored, self.worst.get(measure, 0.0), value)
        return np.where(unscored | (self.outcome != ANSWERED), np.nan, value)

    def cell(self, spec: MeasureSpec) -> dict[str, object] | None:
        """Value, interval and counts of a measure; None if nothing was judged."""
        inputs = _inputs(spec)
        columns = [self._column(name) for name in inputs]
        if any(column is None or not column.present[self.mask].any() for column in columns):
            return None
        values = {name: self.values(name) for name in inputs}
        inside = np.ones(len(self.outcome), dtype=bool)
        if isinstance(spec, Macro):
            values = self._by_slice(spec, values[spec.input])
            if any(np.isnan(item).all() for item in values.values()):
                return None
            inside = np.any([self.slices[name] for name in spec.slices], axis=0)
            known = ~np.all([np.isnan(item) for item in values.values()], axis=0)
        else:
            known = ~np.any([np.isnan(item) for item in values.values()], axis=0)
        kept = {name: item[known] for name, item in values.items()}
        value, interval = self._estimate(spec, kept, self.clusters[known]) if known.any() else (float("nan"), NONE)
        judged = inside & np.all([column.present[self.mask] for column in columns if column], axis=0)
        unscored = inside & np.any([column.unscored[self.mask] for column in columns if column], axis=0)
        counts = {f"n_{name}": int((self.outcome[judged] == code).sum()) for code, name in enumerate(OUTCOMES)}
        return {
            "value": _number(value),
            "ci_low": _number(interval[0]),
            "ci_high": _number(interval[1]),
            "n": int(known.sum()),
            "n_unscored": int(unscored.sum()),
            **counts,
        }

    def _estimate(
        self, spec: MeasureSpec, kept: dict[str, NDArray[np.float64]], clusters: NDArray[np.int64]
    ) -> tuple[float, Interval]:
        if isinstance(spec, Statistic):
            return spec.compute(kept[spec.input]), NONE
        if isinstance(spec, Derived):
            value = float(spec.combine({name: np.asarray(item.mean()) for name, item in kept.items()}))
            return value, bootstrap(kept, clusters, spec.combine)
        if isinstance(spec, Macro):
            return float(np.mean([np.nanmean(item) for item in kept.values()])), bootstrap(kept, clusters, _unweighted)
        if spec.kind == "proportion":
            return float(kept[spec.name].mean()), proportion(kept[spec.name], clusters)
        return float(kept[spec.name].mean()), percentile_interval(self.resampled[spec.name])

    def _by_slice(self, spec: Macro, values: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
        """The values of each slice, NaN outside it."""
        nowhere = np.zeros(len(values), dtype=bool)
        return {name: np.where(self.slices.get(name, nowhere), values, np.nan) for name in spec.slices}

    def _column(self, measure: str) -> Column | None:
        return self.sample.columns.get((self.profile, measure))


def _inputs(spec: MeasureSpec) -> tuple[str, ...]:
    if isinstance(spec, Derived):
        return spec.inputs
    return (spec.input,) if isinstance(spec, (Statistic, Macro)) else (spec.name,)


def _unweighted(means: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
    return np.asarray(np.mean(list(means.values()), axis=0))


def _number(value: float) -> float | None:
    """Nine significant digits: enough for any table, and the same on every machine's arithmetic."""
    return None if np.isnan(value) else float(f"{value:.9g}")
