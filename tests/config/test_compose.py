"""Configuration: every shipped file loads, freezing is canonical, and each mistake is named with its file and key."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml

from vivavoce.agents.options import read_options
from vivavoce.config.base import load
from vivavoce.config.compose import check, compose, freeze, names, thaw
from vivavoce.errors import ConfigError
from vivavoce.plan import Plan

GROUPS = ("benchmark", "agent", "model", "judge", "table")


def experiments(conf: Path) -> list[str]:
    return names(conf, "experiment")


@pytest.fixture
def conf(root: Path, tmp_path: Path) -> Path:
    """A copy of conf/ to break."""
    shutil.copytree(root / "conf", tmp_path / "conf")
    return tmp_path / "conf"


@pytest.mark.parametrize("group", GROUPS)
def test_every_file_of_a_group_loads_with_the_default_experiment(root: Path, group: str) -> None:
    known = names(root / "conf", group)
    assert sorted(getattr(compose(root / "conf", {group: ",".join(known)}), group)) == known


def test_every_experiment_composes_plans_and_names_code_that_exists(root: Path) -> None:
    for name in experiments(root / "conf"):
        config = compose(root / "conf", {"experiment": name})
        plan = Plan(config, root)
        assert plan.jobs or any(agent.folder for agent in config.agent.values()), name
        for benchmark in config.benchmark.values():
            load(benchmark.read, name)
            load(f"{benchmark.grade}:grade", name)
            load(f"{benchmark.grade}:MEASURES", name)
        for agent in config.agent.values():
            target = load(agent.run, name)
            read_options(target.Options, agent.options, agent.name)
        for table in config.table.values():
            assert set(table.benchmarks) <= set(config.benchmark), f"{name}: table {table.name}"
            for column in table.columns:
                grade = config.benchmark[column.benchmark or table.benchmarks[0]].grade
                known = {spec.name for spec in load(f"{grade}:MEASURES", name)}
                assert not column.measure or column.measure in known, f"{name}: table {table.name}: {column.label}"


def test_a_frozen_experiment_reads_back_and_is_canonical(root: Path, tmp_path: Path) -> None:
    config = compose(root / "conf", {"limit": 5})
    path = tmp_path / "config.yaml"
    freeze(config, path)
    assert thaw(path) == config
    written = path.stat().st_mtime_ns
    freeze(thaw(path), path)
    assert path.stat().st_mtime_ns == written, "an equal configuration does not touch the file"
    frozen = yaml.safe_load(path.read_text())
    assert list(frozen) == sorted(frozen)
    assert frozen["limit"] == 5


def test_names_may_be_joined_by_commas(root: Path) -> None:
    assert list(compose(root / "conf", {"agent": "lead,hybrid"}).agent) == ["lead", "hybrid"]


def test_another_model_leaves_offline_mode(root: Path) -> None:
    assert not compose(root / "conf", {"model": "vllm"}).offline
    assert compose(root / "conf", {"model": "vllm", "offline": 1}).offline


def test_a_missing_package_line_is_named(conf: Path) -> None:
    (conf / "agent" / "lone.yaml").write_text("run: a:b\n")
    with pytest.raises(ConfigError, match=r"conf/agent: .*'# @package agent\.<file name"):
        compose(conf, {"agent": "lone"})


@pytest.mark.parametrize(
    ("group", "line", "message"),
    [
        ("agent", "runs: a:b", r"conf/agent/new\.yaml: runs: no such key"),
        ("agent", "needs_model: 3", r"conf/agent/new\.yaml: needs_model: Input should be a valid boolean .*given: 3"),
        ("benchmark", "grade: 7", r"conf/benchmark/new\.yaml: grade: Input should be a valid string"),
        ("table", "policy: half", r"conf/table/new\.yaml: policy: Input should be 'failures_wrong' or 'failures_excluded'"),
    ],
)
def test_a_wrong_key_or_type_names_file_key_and_what_was_expected(conf: Path, group: str, line: str, message: str) -> None:
    (conf / group / "new.yaml").write_text(f"# @package {group}.new\n{line}\n")
    with pytest.raises(ConfigError, match=message):
        compose(conf, {group: "new"})


def test_yaml_that_does_not_parse_names_its_file(conf: Path) -> None:
    (conf / "agent" / "new.yaml").write_text("# @package agent.new\nrun: [\n")
    with pytest.raises(ConfigError, match=r"new\.yaml"):
        compose(conf, {"agent": "new"})


def test_a_key_at_the_wrong_level_is_named(root: Path) -> None:
    with pytest.raises(ConfigError, match="seedz: no such key"):
        check(
            {**{group: {} for group in GROUPS}, "corpus": {}, "name": "x", "title": "", "tracking": {}, "seedz": 1},
            root / "conf",
        )


def test_a_missing_frozen_file_says_who_writes_it(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="Snakemake writes it"):
        thaw(tmp_path / "config.yaml")
