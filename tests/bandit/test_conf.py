"""The shipped configuration: it composes, its tables ask for what exists, published numbers stand where they belong."""

from __future__ import annotations

from pathlib import Path

import pytest

from vivavoce.config.compose import compose
from vivavoce.grading.bandit import MEASURES
from vivavoce.models.bandit_players import Player
from vivavoce.tables.published import published_rows


@pytest.mark.parametrize("name", ["bandit", "bandit_grid"])
def test_experiments_compose(root: Path, name: str) -> None:
    config = compose(root / "conf", {"experiment": name, "tracking": "none"})
    known = {spec.name for spec in MEASURES}
    for table in config.table.values():
        assert {column.measure for column in table.columns} <= known
        assert set(table.benchmarks) == set(config.benchmark)
    for model in config.model.values():
        assert Player(model).name == model.name


def test_the_published_rows(root: Path) -> None:
    table = compose(root / "conf", {"experiment": "bandit", "tracking": "none"}).table["bandit"]
    rows = dict(published_rows(table.published[0], table.columns))
    figure = rows["Gemma2-27B-it · Figure 5"]
    assert figure[:7] == [None, 58.1, 21.6, 10.6, 7.2, 0.6, 2.0]
    assert sum(figure[1:7]) == pytest.approx(100.1)
    assert rows["Gemma2-27B-it · Section 4.2 text"][0] == 87
    assert rows["Gemma2-27B-it · Appendix C.1.3 text"][0] == 89


def test_the_grid_tables_slices_exist(root: Path, games) -> None:
    config = compose(root / "conf", {"experiment": "bandit_grid", "tracking": "none"})
    options = {**config.benchmark["bandit_grid"].options, "instances": 1}
    slices = {name for question in games(**options) for name in question.slices}
    wanted = {column.slice for column in config.table["bandit_grid"].columns}
    assert wanted <= slices and len(wanted) == 9
