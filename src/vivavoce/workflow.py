"""What the Snakefile asks: the plan of the experiment, by wildcards, and the tracker beside the run."""

from __future__ import annotations

import contextlib
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from vivavoce.config.compose import compose, freeze
from vivavoce.errors import ConfigError, VivavoceError
from vivavoce.files import read_records
from vivavoce.plan import Plan
from vivavoce.provenance import manifest_path
from vivavoce.records import Judgement, Rollout

T = TypeVar("T")
FLAGS = ("retry", "estimate")  # what to do, not what to compute: no part of the frozen configuration


def prepare(choices: Mapping[str, Any], root: Path, *, own_environment: bool = False) -> Workflow:
    """Compose and freeze the experiment that `snakemake --config` chose; with `retry=errors`, free the failed questions.

    `own_environment` says that rules run in environments of their own (conda). A mistake ends Snakemake with its message.
    """
    try:
        return _prepare(choices, root, own_environment)
    except VivavoceError as error:
        sys.exit(f"error: {error}")


def _prepare(choices: Mapping[str, Any], root: Path, own_environment: bool) -> Workflow:
    flags = {key: choices[key] for key in FLAGS if key in choices}
    config = compose(root / "conf", {key: value for key, value in choices.items() if key not in FLAGS})
    estimate = str(flags.get("estimate", "")).lower() in ("true", "1")
    workflow = Workflow(Plan(config, root), estimate=estimate, own_environment=own_environment)
    busy = "--unlock" not in sys.argv and any(Path(".snakemake/locks").glob("*.lock"))
    freeze(config, Path(workflow.frozen), busy=busy)
    if "retry" in flags and not busy:
        if flags["retry"] != "errors":
            raise ConfigError(f"--config retry={flags['retry']}: expected retry=errors")
        workflow.free_failures()
    return workflow


class Workflow:
    """Targets, digests and inputs of the rules, as functions of wildcards."""

    def __init__(self, plan: Plan, *, estimate: bool = False, own_environment: bool = False) -> None:
        self.plan, self.estimate = plan, estimate
        python = "python" if own_environment else shlex.quote(sys.executable)
        self.command = f"{python} {shlex.quote(str(plan.root / 'scripts'))}"
        self.folder = f"results/experiments/{plan.config.name}"
        self.frozen = f"{self.folder}/config.yaml"
        self.measures = f"{self.folder}/measures.csv"

    def targets(self) -> list[str]:
        """What `snakemake` makes without a target."""
        if self.estimate:
            return [f"{self.folder}/estimate.md"]
        return [*self.plan.tables(), *self.plan.plots(), *self.tracking()]

    def tracking(self) -> list[str]:
        """The marker of an initialised tracking store, if runs are tracked."""
        return ["results/tracking/store.json"] if self.plan.config.tracking.uri else []

    def any_of(self, group: str) -> str:
        """A wildcard constraint: the names that the experiment selects of a group."""
        return "|".join(sorted(getattr(self.plan.config, group))) or "none"

    def scripts(self, wildcards: Any, output: Any) -> str:
        """For `params`: how a rule calls a script.

        Snakemake leaves params that are derived from files (hence `output`) out of what makes a job run again; neither this
        path nor that of the configuration shall: two experiments share their rollouts, and a folder may move.
        """
        return self.command

    def frozen_file(self, wildcards: Any, output: Any) -> str:
        """For `params`: the frozen configuration. What a step reads of it counts through its digest."""
        return self.frozen

    def digest(self, step: str) -> Callable[[Any], str]:
        """For `params`: the digest of a step's configuration and code, by wildcards."""
        return lambda wildcards: self.plan.digest_of(step, **dict(wildcards.items()))

    def questions(self) -> list[str]:
        """The question files of all benchmarks."""
        return [f"results/data/{name}/questions.jsonl" for name in sorted(self.plan.config.benchmark)]

    def corpora(self) -> list[str]:
        """The databases of all corpora."""
        return [f"results/corpora/{name}/papers.duckdb" for name in sorted(self.plan.config.corpus)]

    def papers(self, wildcards: Any) -> list[str]:
        """The local files that a corpus is ingested from."""
        return self.plan.papers(wildcards.corpus)

    def corpus(self, wildcards: Any) -> list[str]:
        """The corpus manifest that a rollout waits for, if its benchmark has a corpus and its agent reads one."""
        corpus = self.plan.corpus_of(wildcards.benchmark)
        reads = self.plan.config.agent[wildcards.agent].reads_corpus
        return [f"results/corpora/{corpus}/papers.duckdb"] if corpus and reads else []

    def imported(self, wildcards: Any) -> list[str]:
        """The file of answers made elsewhere that a rollout reads, if any."""
        return self.plan.imported(wildcards.benchmark, wildcards.agent, wildcards.model)

    def evidence(self, wildcards: Any) -> list[str]:
        """What a table reads besides the measures."""
        return self.plan.evidence(wildcards.table)

    def table_threads(self, wildcards: Any) -> int:
        """Two for a table that scores rollouts itself."""
        return 2 if "rollouts" in self.plan.config.table[wildcards.table].reads else 1

    def api_slots(self, wildcards: Any) -> int:
        """How many calls a rollout may have under way, for a limit across jobs: `snakemake --resources api_slots=N`."""
        model = self.plan.config.model.get(wildcards.model)
        return model.concurrency if model and model.base_url else 0

    def judge_slots(self, wildcards: Any) -> int:
        """The same for a judge that asks a language model."""
        model = self.plan.config.model.get(self.plan.config.judge[wildcards.judge].model or "")
        return model.concurrency if model and model.base_url else 0

    def free_failures(self) -> None:
        """Delete the files that hold errors or unscored judgements: their steps run again, and finished calls are replayed.

        What is made from them goes too: Snakemake does not miss a file whose products are all there.
        """
        failed = {
            job: path
            for job, path in zip(self.plan.jobs, map(Path, self.plan.rollouts()), strict=True)
            if _any(path, Rollout, lambda item: item.outcome == "error")
        }
        freed = list(failed.values())
        for (job, _), path in zip(self.plan.judged, map(Path, self.plan.judgements()), strict=True):
            if job in failed or _any(path, Judgement, lambda item: item.status == "unscored"):
                freed.append(path)
        if freed:
            made = [Path(name) for name in (self.measures, *self.plan.tables(), *self.plan.plots())]
            for path in (*freed, *made):
                path.unlink(missing_ok=True)

    def manifests(self) -> list[Path]:
        """The manifests of all steps, in the order of the steps: what the tracker mirrors."""
        outputs = [*self.questions(), *self.corpora(), *self.plan.rollouts(), *self.plan.judgements(), self.measures]
        printed = [name for name in (*self.plan.tables(), *self.plan.plots()) if name.endswith((".md", ".svg"))]
        return [manifest_path(Path(name)) for name in [*outputs, *printed]]


class Tracker:
    """The process that mirrors finished steps into MLflow while the workflow runs."""

    def __init__(self, process: subprocess.Popen[bytes] | None) -> None:
        self._process = process

    def finish(self) -> None:
        """Let it mirror what is left, and wait for it."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                self._process.send_signal(signal.SIGTERM)
            self._process.wait()


def start_tracker(workflow: Workflow) -> Tracker:
    """Start it if runs are tracked. It ends by itself when its parent is gone."""
    if not workflow.tracking():
        return Tracker(None)
    return Tracker(subprocess.Popen([*shlex.split(f"{workflow.command}/track.py"), "--config", workflow.frozen, "--follow"]))


def _any(path: Path, kind: type[T], wanted: Callable[[T], bool]) -> bool:
    """Whether a results file is there and holds such a record."""
    return path.is_file() and any(wanted(item) for item in read_records(path, kind))
