"""Write the tables that README and docs quote anew from results/: run it after `make demo`; a test fails where they differ.

python docs/quote.py [FOLDER]        FOLDER holds results/; the project's own if it is left out

A quotation stands between two comments, the first of which says what to take:

    <!-- quote results/experiments/specimen/tables/specimen_paperqa.md rows=corrected columns=text|table|Avg -->
    <!-- end -->

`rows` is a pattern that a row must hold, `columns` the labels that are kept (all if left out), `plain` drops the intervals.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Collection
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
QUOTE = re.compile(r"(<!-- quote (?P<source>\S+)(?P<options>[^>]*) -->\n)(?P<text>.*?)(<!-- end -->)", re.DOTALL)
INTERVAL = re.compile(r" \[[^\]]*\]")


def differences(page: Path, folder: Path, sources: Collection[str]) -> tuple[list[str], int]:
    """Those of `sources` whose quotation in a page is stale, and how many are as they should be."""
    stale, fresh = [], 0
    for match in QUOTE.finditer(page.read_text(encoding="utf-8")):
        if match["source"] in sources:
            table = (folder / match["source"]).read_text(encoding="utf-8")
            same = quoted(table, match["options"]) == match["text"]
            stale += [] if same else [match["source"]]
            fresh += same
    return stale, fresh


def quoted(table: str, options: str) -> str:
    """The part of a Markdown table that the options ask for."""
    chosen = {key: value.strip() for key, value in re.findall(r"(\w+)=(.*?)(?= \w+=| plain|$)", options)}
    lines = [line for line in table.splitlines() if line.startswith("|")]
    header, rule, *cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    body = [row for row in cells if re.search(chosen.get("rows", ""), " | ".join(row))]
    labels = [re.sub(r" \(n=\d+\)$", "", label) for label in header]
    wanted = chosen.get("columns", "").split("|") if "columns" in chosen else labels
    if unknown := [label for label in wanted if label not in labels]:
        raise SystemExit(f"no column {', '.join(unknown)}. Known: {', '.join(labels)}")
    kept = [labels.index(label) for label in wanted]
    rows = [[row[index] for index in kept] for row in [header, *body]]
    if " plain" in options:
        rows = [[INTERVAL.sub("", cell) for cell in row] for row in rows]
    widths = [max(len(row[place]) for row in rows) for place in range(len(kept))]
    right = [rule[index].endswith(":") for index in kept]
    marks = ["-" * (width - 1) + ":" if end else "-" * width for width, end in zip(widths, right, strict=True)]
    lines = []
    for row in (rows[0], marks, *rows[1:]):
        padded = [c.rjust(w) if end else c.ljust(w) for c, w, end in zip(row, widths, right, strict=True)]
        lines.append(f"| {' | '.join(padded)} |\n")
    return "".join(lines)


def main(folder: Path) -> None:
    """Rewrite the quotations whose sources exist."""

    def fresh(match: re.Match[str]) -> str:
        source = folder / match["source"]
        if not source.is_file():
            return match[0]
        return match[1] + quoted(source.read_text(encoding="utf-8"), match["options"]) + match[5]

    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        text = page.read_text(encoding="utf-8")
        new = QUOTE.sub(fresh, text)
        if new != text:
            page.write_text(new, encoding="utf-8")
            print(f"quoted anew: {page.relative_to(ROOT)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=ROOT)
    main(parser.parse_args().folder)
