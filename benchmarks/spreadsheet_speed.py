"""Reading response files: calamine (ours), openpyxl and pandas side by side in one run, and our cached form.

    python benchmarks/spreadsheet_speed.py ../shared/mirror/raw.githubusercontent.com/yale-nlp/SciDQA/*/src/data_resp

Each reader reads the same files; what is compared is the texts of the answer columns, empty cells as None.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from vivavoce.spreadsheet import read_sheet

Columns = dict[str, list[Any]]
Reader = Callable[[Path], Columns]


def ours(path: Path) -> Columns:
    """vivavoce.spreadsheet without its cache."""
    sheet = read_sheet(path)
    return {name: sheet.column(name) for name in sheet.names if "_ans" in name}


def cached(folder: Path) -> Reader:
    """vivavoce.spreadsheet with its cache."""

    def read(path: Path) -> Columns:
        sheet = read_sheet(path, cache=folder)
        return {name: sheet.column(name) for name in sheet.names if "_ans" in name}

    return read


def with_openpyxl(path: Path) -> Columns:
    """openpyxl in its read-only mode."""
    import openpyxl

    rows = list(openpyxl.load_workbook(path, read_only=True).worksheets[0].iter_rows(values_only=True))
    names = [str(name) for name in rows[0]]
    return {name: [row[index] for row in rows[1:]] for index, name in enumerate(names) if "_ans" in name}


def with_pandas(engine: str) -> Reader:
    """pandas.read_excel, with nothing taken for missing but empty cells."""

    def read(path: Path) -> Columns:
        import pandas as pd

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            frame = pd.read_excel(path, engine=engine, keep_default_na=False, na_values=[""])
        return {
            str(name): [None if pd.isna(cell) else cell for cell in frame[name]]
            for name in frame.columns
            if "_ans" in str(name)
        }

    return read


def main() -> None:
    """Print seconds of CPU a file, the ratio to ours, and in how many cells a reader differs from openpyxl."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--files", type=int, default=6)
    options = parser.parse_args()
    paths = sorted(options.folder.glob("*/*.xlsx"))
    paths = paths[:: max(1, len(paths) // options.files)][: options.files]
    if not paths:
        raise SystemExit(f"{options.folder}: no response files. Give the folder data_resp of SciDQA.")
    with tempfile.TemporaryDirectory() as folder:
        warm = cached(Path(folder))
        for path in paths:
            warm(path)
        readers: dict[str, Reader] = {
            "ours (calamine)": ours,
            "ours, cached": warm,
            "openpyxl": with_openpyxl,
            "pandas + openpyxl": with_pandas("openpyxl"),
            "pandas + calamine": with_pandas("calamine"),
        }
        seconds, found = {}, {}
        for name, read in readers.items():
            read(paths[0])  # imports
            start = time.process_time()
            found[name] = [read(path) for path in paths]
            seconds[name] = (time.process_time() - start) / len(paths)
    for name, spent in seconds.items():
        different = sum(
            left != right
            for one, other in zip(found[name], found["openpyxl"], strict=True)
            for column in one
            for left, right in zip(one[column], other[column], strict=True)
        )
        print(f"{name:18} {spent:7.3f} s a file   {spent / seconds['ours (calamine)']:5.1f} of ours   {different} cells differ")


if __name__ == "__main__":
    main()
