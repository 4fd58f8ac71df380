"""What an experiment consists of: its jobs, their files, and the digest that says when each must run again."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from vivavoce.config.base import module_of
from vivavoce.config.compose import block
from vivavoce.config.experiment import ExperimentConfig
from vivavoce.files import digest
from vivavoce.models.client import PROVIDERS
from vivavoce.provenance import code_digest

NO_MODEL = "none"


class Job(NamedTuple):
    """One rollout: who answers which benchmark."""

    benchmark: str
    agent: str
    model: str
    seed: int

    @property
    def path(self) -> str:
        """Its place below results/rollouts and results/judgements."""
        return f"{self.benchmark}/{self.agent}/{self.model}/s{self.seed}"


class Plan:
    """The jobs of one experiment. `root` is the project's folder; files go below results/ of the working directory."""

    def __init__(self, config: ExperimentConfig, root: Path) -> None:
        self.config, self.root = config, root

    @cached_property
    def jobs(self) -> list[Job]:
        """All rollouts, in the order of the configuration."""
        return [job for job in self._all_jobs() if not self._skipped(job.path)]

    @cached_property
    def judged(self) -> list[tuple[Job, str]]:
        """Which judges grade which rollouts."""
        return [
            (job, judge) for job in self.jobs for judge in sorted(self.config.judge) if not self._skipped(f"{job.path}/{judge}")
        ]

    def models_of(self, benchmark: str, agent: str) -> list[str]:
        """The model names that stand in an agent's rows: the experiment's, the labels of imported answers, or `none`."""
        choice = self.config.agent[agent]
        if choice.sources:
            return sorted(choice.sources)
        if choice.folder:
            return sorted(path.stem for path in Path(choice.folder, benchmark).glob("*") if not path.name.startswith("."))
        return self.config.players if choice.needs_model else [NO_MODEL]

    def rollouts(self) -> list[str]:
        """The files of all rollouts."""
        return [f"results/rollouts/{job.path}.jsonl" for job in self.jobs]

    def judgements(self) -> list[str]:
        """The files of all judgements."""
        return [f"results/judgements/{job.path}/{judge}.jsonl" for job, judge in self.judged]

    def tables(self) -> list[str]:
        """The files of all tables."""
        folder = f"results/experiments/{self.config.name}/tables"
        return [f"{folder}/{name}.{kind}" for name in sorted(self.config.table) for kind in ("md", "csv", "tex")]

    def evidence(self, table: str) -> list[str]:
        """What a table reads besides measures.csv: questions, rollouts, judgements, if it is one that `make`s itself."""
        choice = self.config.table[table]
        if not choice.make:
            return []
        files = [f"results/data/{name}/questions.jsonl" for name in choice.benchmarks if name in self.config.benchmark]
        files += self.rollouts() if "rollouts" in choice.reads else []
        return files + (self.judgements() if "judgements" in choice.reads else [])

    def plots(self) -> list[str]:
        """The files of all figures."""
        folder = f"results/experiments/{self.config.name}/plots"
        return [f"{folder}/{name}.{kind}" for name in sorted(self.config.plot) for kind in ("svg", "png")]

    def corpus_of(self, benchmark: str) -> str:
        """The name of a benchmark's corpus, or an empty string."""
        return self.config.benchmark[benchmark].corpus

    def papers(self, corpus: str) -> list[str]:
        """The local files that a corpus is made of: PDFs in a folder, and what stands in this project."""
        choice = self.config.corpus[corpus]
        files = [self.root / asset.path for asset in choice.assets.values() if asset.path]
        if choice.pdfs:
            files += sorted((self.root / choice.pdfs).glob("*.pdf"))
        return [str(path) for path in files]

    def imported(self, benchmark: str, agent: str, model: str) -> list[str]:
        """The file of answers made elsewhere that a rollout reads, if it stands in a local folder."""
        folder = self.config.agent[agent].folder
        return [str(path) for path in sorted(Path(folder, benchmark).glob(f"{model}.*"))] if folder else []

    def digest_of(self, step: str, **names: str) -> str:
        """Digest of what a step reads besides its inputs: its slice of the configuration, and the code that it runs."""
        slices, modules = self._slices(step, names)
        return digest([slices, self._code(step, tuple(sorted(modules)))])[:20]

    def _slices(self, step: str, names: dict[str, str]) -> tuple[Any, set[str]]:
        config = self.config
        if step == "fetch":
            benchmark = config.benchmark[names["benchmark"]]
            return [block(benchmark)[key] for key in ("read", "assets", "options")], {module_of(benchmark.read)}
        if step == "ingest":
            return block(config.corpus[names["corpus"]]), set()
        if step == "rollout":
            agent, (model, modules) = config.agent[names["agent"]], self._model(names["model"])
            return [block(agent), model, config.limit], {module_of(agent.run), *modules}
        if step == "judge":
            judge, grade = config.judge[names["judge"]], config.benchmark[names["benchmark"]].grade
            model, modules = self._model(judge.model or NO_MODEL)
            return [block(judge), model, grade], {grade, module_of(judge.judge), *modules}
        graders = {benchmark.grade for benchmark in config.benchmark.values()}
        titles = {name: [item.title, item.invented, item.grade] for name, item in config.benchmark.items()}
        if step == "aggregate":
            return [config.name, titles, self.judged], graders
        if step == "plot":
            plot = config.plot[names["plot"]]
            return [config.name, titles, self.jobs, block(plot)], {*graders, module_of(plot.draw)}
        if step == "table":
            table = config.table[names["table"]]
            named = {module_of(name) for name in (*(check.run for check in table.checks), table.make) if name}
            jobs = self.judged if table.make else []
            return [config.name, config.limit, titles, block(table), jobs], graders | named
        raise ValueError(f"no step '{step}'")

    def _model(self, name: str) -> tuple[Any, set[str]]:
        if name not in self.config.model:
            return name, set()
        model = self.config.model[name]
        return block(model), {module_of(PROVIDERS.get(model.provider, model.provider))}

    def _code(self, step: str, modules: tuple[str, ...]) -> str:
        key = (step, modules)
        if key not in self._codes:
            self._codes[key] = code_digest(self.root / "scripts" / f"{step}.py", modules)
        return self._codes[key]

    @cached_property
    def _codes(self) -> dict[tuple[str, tuple[str, ...]], str]:
        return {}

    def _skipped(self, path: str) -> bool:
        """Whether the last pattern of `skip` that fits a path leaves it out; `!` before a pattern keeps what fits."""
        fitting = [pattern for pattern in self.config.skip if fnmatch(path, pattern.removeprefix("!"))]
        return bool(fitting) and not fitting[-1].startswith("!")

    def _all_jobs(self) -> Iterator[Job]:
        for benchmark in sorted(self.config.benchmark):
            for agent in sorted(self.config.agent):
                for model in self.models_of(benchmark, agent):
                    for seed in range(self.config.seeds):
                        yield Job(benchmark, agent, model, seed)
