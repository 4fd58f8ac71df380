"""Queries a second over the 5,792 abstracts, by words, by meaning and both.

    python benchmarks/search_speed.py results/corpora/acl_catalogue [--queries N]

Queries are titles of the corpus, each asked once, so that no query's embedding is remembered.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import get_args

from vivavoce.corpus.base import SearchMode
from vivavoce.corpus.library import open_library


def main() -> None:
    """Print one line a mode."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--queries", type=int, default=200)
    options = parser.parse_args()
    for mode in get_args(SearchMode):
        library = open_library(options.corpus)  # anew, so that no mode profits from another's memory
        titles = [paper.title for paper in library.papers()][: options.queries]
        library.search("warm up", mode=mode, table="metadata", column="title_abstract")
        start = time.perf_counter()
        for title in titles:
            library.search(title, mode=mode, table="metadata", column="title_abstract", limit=20)
        seconds = time.perf_counter() - start
        print(f"{mode:10} {len(titles) / seconds:8.1f} queries/s ({len(library.papers())} papers)")


if __name__ == "__main__":
    main()
