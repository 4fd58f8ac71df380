"""Typesets the specimen papers: `python specimen/build.py [--out FOLDER]` writes `pdfs/<paper id>.pdf` and `papers.json`.

Everything in these papers is invented. The same sources give the same bytes: no clock, no random numbers, no paths.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import source
import typeset

HERE = Path(__file__).resolve().parent


def build(out: Path) -> None:
    """Write all PDFs and the catalogue into `out`."""
    papers = {paper.key: paper for paper in source.read_all(HERE / "papers")}
    (out / "pdfs").mkdir(parents=True, exist_ok=True)
    typeset.fonts()
    catalogue = []
    for paper in papers.values():
        content, pages = typeset.pdf(paper, source.references(paper, papers))
        (out / "pdfs" / f"{paper.id}.pdf").write_bytes(content)
        print(f"{paper.key}: {pages} pages, {len(content) / 1000:.0f} kB, {paper.id}")
        catalogue.append(
            {
                "id": paper.id,
                "key": paper.key,
                "title": paper.title,
                "abstract": paper.head["abstract"],
                "authors": paper.head["authors"],
                "venue": paper.head["venue"],
                "conference_full": source.VENUES[paper.head["venue"]],
                "year": paper.head["year"],
                "volume": paper.head["volume"],
                "num_pages": pages,
                "bibtex": paper.bibtex,
                "pdf": f"{paper.id}.pdf",
            }
        )
    catalogue.sort(key=lambda entry: str(entry["id"]))
    (out / "papers.json").write_text(json.dumps(catalogue, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=HERE, help="where to write (default: beside this file)")
    build(parser.parse_args().out)
