"""Print the tables of an experiment, and where everything lies: what `make demo` ends with."""

from __future__ import annotations

import argparse
from pathlib import Path


def main(experiment: str) -> None:
    """Print every Markdown table of the experiment."""
    folder = Path("results/experiments") / experiment
    for table in sorted((folder / "tables").glob("*.md")):
        print(f"\n{table.read_text(encoding='utf-8')}")
    print(f"\nTables (.md, .csv, .tex): {folder}/tables")
    print(f"Every value with its interval and counts: {folder}/measures.csv")
    print(f"Where the published scorer and the corrected one disagree: {folder}/differences.csv.gz")
    print("Runs: make ui, then open the address that it prints")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("config", nargs="*", help="as after snakemake --config: only experiment=NAME is read")
    choices = dict(item.split("=", 1) for item in parser.parse_args().config)
    main(choices.get("experiment", "specimen"))
