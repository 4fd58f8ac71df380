"""The root: an experiment is the groups that it selects and a few whole numbers."""

from __future__ import annotations

from pydantic import Field

from vivavoce.config.agent import AgentConfig
from vivavoce.config.base import Strict
from vivavoce.config.benchmark import BenchmarkConfig
from vivavoce.config.corpus import CorpusConfig
from vivavoce.config.judge import JudgeConfig
from vivavoce.config.model import ModelConfig
from vivavoce.config.plot import PlotConfig
from vivavoce.config.table import TableConfig


class TrackingConfig(Strict):
    """`conf/tracking/*.yaml`: where runs are mirrored. `uri` empty: nowhere."""

    uri: str = ""
    artifact_megabytes: int = Field(default=25, ge=0)  # larger files are named with their digest instead of copied


class ExperimentConfig(Strict):
    """Everything that a run of the workflow depends on, as frozen in results/experiments/<name>/config.yaml."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    title: str
    benchmark: dict[str, BenchmarkConfig] = Field(min_length=1)
    corpus: dict[str, CorpusConfig] = {}
    agent: dict[str, AgentConfig] = Field(min_length=1)
    model: dict[str, ModelConfig] = {}
    players: list[str] = []  # the models that answer; the others judge
    judge: dict[str, JudgeConfig]
    table: dict[str, TableConfig] = {}
    plot: dict[str, PlotConfig] = {}
    tracking: TrackingConfig
    seeds: int = Field(default=1, ge=1, le=1000)
    limit: int = Field(default=0, ge=0)  # questions a benchmark; 0: all
    offline: bool = False  # model calls come from the call store or the recorded calls alone
    recorded: list[str] = []  # exports of call stores, shipped with the project
    budget_usd: float | None = None
    budget_calls: int | None = None
    error_share: float = Field(default=0.05, ge=0, le=1)  # a step fails when more of its questions end in an error
    skip: list[str] = []  # patterns of benchmark/agent/model/s<seed>[/judge] left out; `!` keeps; the last that fits decides
