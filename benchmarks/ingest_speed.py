"""Pages a second: parsing PDFs into rows, writing tables, and embedding chunks; and what that means for a large corpus.

    python benchmarks/ingest_speed.py [folder of PDFs] [--copies N] [--processes N] [--embed N]

The folder (by default the specimen's) is parsed `copies` times. Embedding is measured on `embed` chunks of 512 characters.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import msgspec

from vivavoce.corpus.database import write_database
from vivavoce.corpus.embed import MiniLM
from vivavoce.corpus.ids import paper_id
from vivavoce.corpus.parse import Parsing, rows_of
from vivavoce.corpus.parsing import parse_all

PAPERS, PAGES = 6795, 135_000  # AirQA-Real's corpus (spec/airqa.md 1.5: mean 19.7 pages a paper)


def main() -> None:
    """Print one line a measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).parent.parent / "specimen" / "pdfs")
    parser.add_argument("--copies", type=int, default=10)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--embed", type=int, default=100)
    options = parser.parse_args()
    pdfs = sorted(options.folder.rglob("*.pdf"))
    with tempfile.TemporaryDirectory() as name:
        top = Path(name)
        copies = []
        for number in range(options.copies):
            for pdf in pdfs:
                copy = top / f"{number}-{pdf.name}"
                # A comment after the end makes another file of the same pages, so that nothing is taken from the cache.
                copy.write_bytes(pdf.read_bytes() + f"\n%{number}\n".encode())
                copies.append(copy)
        start = time.perf_counter()
        found = [o for _, _, o in parse_all(copies, Parsing(), top / "cache", processes=options.processes, seconds=300)]
        parsed = [outcome.paper for outcome in found if outcome.paper]
        pages = sum(len(paper.pages) for paper in parsed)
        parse = pages / (time.perf_counter() - start)
        start = time.perf_counter()
        named = [msgspec.structs.replace(paper, title=f"{paper.title} {number}") for number, paper in enumerate(parsed)]
        assert len({paper_id(paper.title) for paper in named}) == len(named)
        write_database(top / "x.duckdb", (rows_of(paper, None, "", Parsing()) for paper in named))
        write = pages / (time.perf_counter() - start)
        chunks = [str(row["text_content"]) for paper in parsed for row in paper.rows["chunks"]]
        start = time.perf_counter()
        some = list(dict.fromkeys(chunks))[: options.embed]
        MiniLM(threads=options.processes).embed(some)
        embed = len(some) / (time.perf_counter() - start)
    total = PAGES * len(chunks) / pages
    print(f"parse   {parse:8.1f} pages/s ({len(parsed)} PDFs, {pages} pages, {options.processes} processes)")
    print(f"write   {write:8.1f} pages/s")
    print(f"embed   {embed:8.1f} chunks/s ({len(chunks) / pages:.1f} chunks a page)")
    hours = [PAGES / parse / 3600, PAGES / write / 3600, total / embed / 3600]
    print(f"{PAPERS} papers, {PAGES} pages, {total:,.0f} chunks: ", end="")
    print(f"{hours[0]:.1f} h to parse, {hours[1]:.1f} h to write, {hours[2]:.1f} h to embed")


if __name__ == "__main__":
    main()
