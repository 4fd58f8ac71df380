"""Reading a sheet as typed rows, once: the parsed form is cached by the file's digest.

Reader: python-calamine, 5 times as fast as openpyxl and 7 times as fast as pandas with it on the published files
(benchmarks/spreadsheet_speed.py). It decodes Excel's `_x000D_` escapes, which openpyxl, the authors' reader, leaves as text; so
they are escaped once more where a file has any, and the caller sees what the authors saw. Two things are lost: a cell of
nothing but line breaks is read as empty (4 of 185,000 published answers), and an integer is not told from a float without
fraction.

Cache: one Parquet file a sheet, each cell a JSON scalar, so that types survive and single columns can be read.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Callable, Sequence
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

from vivavoce.errors import DataError
from vivavoce.files import atomic, digest, sample, sha256

Cell = None | bool | int | float | str
VERSION = 1  # of the cached form
MOST_BYTES = 2**30  # unpacked
ESCAPE = re.compile(r"_x[0-9A-Fa-f]{4}_")
_ESCAPE_START = re.compile(rb"_(?=x[0-9A-Fa-f]{4}_)")


class Sheet:
    """The columns of a sheet, in order; `column` gives the cells below the header."""

    def __init__(self, names: Sequence[str], rows: int, load: Callable[[int], list[Cell]]) -> None:
        self.names = tuple(names)
        self.rows = rows
        self.at = load  # the cells of a column by its number

    def column(self, name: str) -> list[Cell]:
        """The cells of the first column of that name: None where empty."""
        return self.at(self.names.index(name))


def read_sheet(path: Path, sheet: str = "", cache: Path | None = None) -> Sheet:
    """The sheet of that name (empty: the first), its first row being the header. Raises DataError for a damaged file."""
    if cache is None:
        return _parsed(path, sheet)
    key = digest({"file": sha256(path), "sheet": sheet, "version": VERSION})[:32]
    kept = cache / f"{key}.parquet"
    if not kept.exists():
        _keep(kept, _parsed(path, sheet))
    return _cached(kept)


def decode_escapes(text: str) -> str:
    """What Excel's escapes stand for: `_x000D_` is a carriage return, `_x005F_` an underscore."""
    return ESCAPE.sub(lambda match: chr(int(match[0][2:6], 16)), text)


def _parsed(path: Path, name: str) -> Sheet:
    from python_calamine import CalamineError, CalamineWorkbook

    try:
        with CalamineWorkbook.from_filelike(_source(path)) as book:
            if name and name not in book.sheet_names:
                raise DataError(f"{path}: no sheet {name!r}; it has {sample(book.sheet_names)}.")
            sheet = book.get_sheet_by_name(name) if name else book.get_sheet_by_index(0)
            rows = sheet.to_python(skip_empty_area=False)
    except (CalamineError, zipfile.BadZipFile, OSError, ValueError) as error:
        if isinstance(error, FileNotFoundError):
            raise DataError(f"{path}: no such file.") from None
        raise DataError(f"{path}: not a readable .xlsx file: {error}. Save it again, or export it as CSV or JSONL.") from None
    if not rows:
        raise DataError(f"{path}: the sheet is empty; expected a header row and one row an answer.")
    header, body = rows[0], rows[1:]
    while body and all(cell == "" for cell in body[-1]):
        body.pop()
    return Sheet([str(_cell(cell) or "") for cell in header], len(body), lambda index: [_cell(row[index]) for row in body])


def _source(path: Path) -> io.BytesIO:
    """The file's bytes; with escapes escaped where there are any, so that the reader leaves them as text."""
    content = path.read_bytes()
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = archive.infolist()
        if sum(member.file_size for member in members) > MOST_BYTES:
            raise ValueError(f"it unpacks to more than {MOST_BYTES >> 20} MiB")
        texts = {
            member.filename: archive.read(member)
            for member in members
            if member.filename.startswith(("xl/sharedStrings", "xl/worksheets/")) and member.filename.endswith(".xml")
        }
        if not any(_ESCAPE_START.search(text) for text in texts.values()):
            return io.BytesIO(content)
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as copy:
            for member in members:
                text = texts.get(member.filename)
                copy.writestr(member.filename, archive.read(member) if text is None else _ESCAPE_START.sub(b"_x005F_", text))
    out.seek(0)
    return out


def _cell(value: Any) -> Cell:
    if value == "" and isinstance(value, str):
        return None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, (datetime, date, time)):
        return value.isoformat()
    if isinstance(value, timedelta):
        return str(value)
    return value if isinstance(value, (bool, int, float)) else str(value)


def _keep(path: Path, sheet: Sheet) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = [
        pa.array([None if cell is None else json.dumps(cell, ensure_ascii=True) for cell in sheet.at(index)], pa.string())
        for index in range(len(sheet.names))
    ]
    table = pa.Table.from_arrays(columns, names=[str(index) for index in range(len(columns))])
    table = table.replace_schema_metadata({"names": json.dumps(sheet.names), "rows": str(sheet.rows)})
    with atomic(path, "wb") as stream:
        pq.write_table(table, stream, compression="zstd")


def _cached(path: Path) -> Sheet:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(path)
        known = file.schema_arrow.metadata
        names, rows = json.loads(known[b"names"]), int(known[b"rows"])
    except (pa.ArrowException, OSError, KeyError, TypeError) as error:
        raise DataError(f"{path}: damaged cache of a spreadsheet ({error}): delete it and run again.") from None

    def load(index: int) -> list[Cell]:
        cells = file.read(columns=[str(index)]).column(0).to_pylist()
        return [None if cell is None else json.loads(cell) for cell in cells]

    return Sheet(names, rows, load)
