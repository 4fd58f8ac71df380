"""The price of orchestration, as ratios measured in one run.

    .venv/bin/python benchmarks/orchestration.py [--experiment specimen] [--cores 2]

(a) the default experiment by Snakemake over the same steps called in one Python process;
(b) the second run of a finished experiment; (c) `snakemake -n` over 2,000 rollouts.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from vivavoce.config.compose import compose, freeze
from vivavoce.plan import Plan
from vivavoce.workflow import Workflow

ROOT = Path(__file__).resolve().parents[1]


def snakemake(folder: Path, root: Path, *arguments: str) -> float:
    """Seconds of one snakemake call in `folder`."""
    command = [sys.executable, "-m", "snakemake", "-s", str(root / "Snakefile"), "--directory", str(folder), *arguments]
    path = os.pathsep.join([str(root / "src"), str(root)])
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, "PYTHONPATH": path})
    return time.perf_counter() - start


def script(name: str) -> ModuleType:
    """A script of the project as a module."""
    spec = importlib.util.spec_from_file_location(f"scripts_{name}", ROOT / "scripts" / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def steps(plan: Plan) -> Iterator[tuple[str, argparse.Namespace]]:
    """Every step of an experiment with its arguments, in an order in which they can run."""
    workflow = Workflow(plan)
    common = {"config": Path(workflow.frozen), "digest": "", "log": None}
    for name in sorted(plan.config.corpus):
        yield (
            "ingest",
            argparse.Namespace(**common, corpus=name, threads=2, output=Path(f"results/corpora/{name}/papers.duckdb")),
        )
    for name in sorted(plan.config.benchmark):
        yield "fetch", argparse.Namespace(**common, benchmark=name, output=Path(f"results/data/{name}/questions.jsonl"))
    for job in plan.jobs:
        questions = Path(f"results/data/{job.benchmark}/questions.jsonl")
        output = Path(f"results/rollouts/{job.path}.jsonl")
        yield "rollout", argparse.Namespace(**common, **job._asdict(), questions=questions, imported=[], output=output)
    for path in plan.judgements():
        benchmark, agent, model, seed, judge = Path(path).with_suffix("").parts[2:]
        rollouts = Path("results/rollouts", benchmark, agent, model, f"{seed}.jsonl")
        names = {"benchmark": benchmark, "agent": agent, "model": model, "seed": int(seed[1:]), "judge": judge}
        questions = Path(f"results/data/{benchmark}/questions.jsonl")
        yield "judge", argparse.Namespace(**common, **names, questions=questions, rollouts=rollouts, output=Path(path))
    folder = Path(workflow.folder)
    measures = Path(workflow.measures)
    differences = folder / "differences.csv.gz"
    yield "aggregate", argparse.Namespace(**common, threads=2, output=measures, differences=differences)
    for name in sorted(plan.config.table):
        yield "table", argparse.Namespace(**common, table=name, measures=measures, output=folder / "tables" / f"{name}.md")
    for name in sorted(plan.config.plot):
        yield "plot", argparse.Namespace(**common, plot=name, measures=measures, output=folder / "plots" / f"{name}.svg")


def in_one_process(experiment: str, folder: Path) -> float:
    """Seconds of the same steps called one after the other in this process (imports counted once)."""
    os.chdir(folder)
    config = compose(ROOT / "conf", {"experiment": experiment, "tracking": "none"})
    plan = Plan(config, ROOT)
    start = time.perf_counter()
    freeze(config, Path(Workflow(plan).frozen))
    modules: dict[str, ModuleType] = {}
    for name, arguments in steps(plan):
        if name not in modules:
            modules[name] = script(name)
        modules[name].main(arguments)
    return time.perf_counter() - start


def many_rollouts(folder: Path, seeds: int) -> float:
    """Seconds of a dry run over 2 x `seeds` rollouts of the toy benchmark."""
    project = folder / "project"
    project.mkdir()
    shutil.copy(ROOT / "Snakefile", project)
    for part in ("conf", "scripts", "src", "envs"):
        shutil.copytree(ROOT / part, project / part)
    shutil.copytree(ROOT / "tests" / "workflow" / "toy", project, dirs_exist_ok=True)
    return snakemake(
        project, project, "-n", "--quiet", "--cores", "2", "--config", "experiment=toy", f"seeds={seeds}", "tracking=none"
    )


def main() -> None:
    """Print the three measurements."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--experiment", default="specimen")
    parser.add_argument("--cores", default="2")
    options = parser.parse_args()
    chosen = ("--cores", options.cores, "--config", f"experiment={options.experiment}", "tracking=none")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "workflow").mkdir()
        (folder / "alone").mkdir()
        orchestrated = snakemake(folder / "workflow", ROOT, *chosen)
        again = snakemake(folder / "workflow", ROOT, *chosen)
        dry = many_rollouts(folder, 1000)
        alone = in_one_process(options.experiment, folder / "alone")
        os.chdir(ROOT)
    print(
        f"(a) {options.experiment}: snakemake --cores {options.cores} {orchestrated:.1f} s, one process {alone:.1f} s, "
        f"ratio {orchestrated / alone:.2f}"
    )
    print(f"(b) second run {again:.1f} s, {again / orchestrated:.2f} of the first")
    print(f"(c) snakemake -n over 2,000 rollouts {dry:.1f} s")


if __name__ == "__main__":
    main()
