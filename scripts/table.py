"""Print one table of an experiment as Markdown, CSV and LaTeX, beside the published numbers."""

from __future__ import annotations

import argparse
from pathlib import Path

from vivavoce import cli
from vivavoce.config.base import load
from vivavoce.config.compose import thaw
from vivavoce.files import write_text
from vivavoce.plan import Plan
from vivavoce.provenance import write_manifest
from vivavoce.tables import listing as listings
from vivavoce.tables.grid import build
from vivavoce.tables.listing import Material, Run
from vivavoce.tables.measures import read_measures
from vivavoce.tables.render import comma_separated, latex, markdown
from vivavoce.tables.specs import specs_of


def main(options: argparse.Namespace) -> None:
    """Write tables/<name>.md, .csv and .tex."""
    config = thaw(options.config)
    table = config.table[options.table]
    specs = specs_of(config, table.benchmarks)
    measures = read_measures(options.measures)
    notes = [f"Only the first {config.limit} questions of each benchmark."] if config.limit else []
    if any(config.benchmark[name].invented for name in specs):
        notes.append("The specimen is invented: its numbers compare with nothing published.")
    files = {}
    if table.make:
        plan = Plan(config, cli.ROOT)
        files = {path: Path(path) for path in plan.evidence(options.table)}
        listing = load(table.make, f"conf/table/{table.name}.yaml: make")(
            Material(
                title=table.title,
                options=table.options,
                notes=[*table.notes, *notes],
                measures=measures,
                specs=specs,
                runs=_runs(plan, table.benchmarks),
                threads=options.threads,
            )
        )
        texts = {".csv": listings.comma_separated(listing), ".tex": listings.latex(listing), ".md": listings.markdown(listing)}
    else:
        grid = build(table, measures, specs, notes)
        texts = {".csv": comma_separated(grid), ".tex": latex(grid), ".md": markdown(grid)}
    for suffix, text in texts.items():
        write_text(options.output.with_suffix(suffix), text)
    write_manifest(
        options.output,
        step="table",
        key={"table": options.table},
        inputs={"measures.csv": options.measures, **files},
        digest=options.digest,
        artifacts=[options.output.with_suffix(suffix).name for suffix in (".md", ".csv", ".tex")],
    )


def _runs(plan: Plan, benchmarks: list[str]) -> list[Run]:
    return [
        Run(
            *job[:3],
            judge=judge,
            seed=job.seed,
            questions=Path(f"results/data/{job.benchmark}/questions.jsonl"),
            rollouts=Path(f"results/rollouts/{job.path}.jsonl"),
            judgements=Path(f"results/judgements/{job.path}/{judge}.jsonl"),
        )
        for job, judge in plan.judged
        if job.benchmark in benchmarks
    ]


if __name__ == "__main__":
    arguments = cli.parser(__doc__)
    arguments.add_argument("--table", required=True)
    arguments.add_argument("--measures", type=Path, required=True, help="measures.csv")
    arguments.add_argument("--threads", type=int, default=1)
    arguments.add_argument("--output", type=Path, required=True, help="tables/<name>.md")
    cli.run(main, arguments)
