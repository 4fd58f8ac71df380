"""Any file of answers as rows: a mapping of column to value, with the place to name in messages."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from vivavoce.agents.predictions.options import Format, PredictionOptions
from vivavoce.errors import DataError
from vivavoce.spreadsheet import read_sheet

_BY_SUFFIX: dict[str, Format] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "csv",
    ".xlsx": "xlsx",
    ".xlsm": "xlsx",
    ".parquet": "parquet",
}


class Row(NamedTuple):
    """One record; `where` is the file and the line, row or key."""

    where: str
    values: Mapping[str, Any]


class Rows(NamedTuple):
    """All records of a file and the names that may stand in them."""

    names: tuple[str, ...]
    rows: list[Row]
    spreadsheet: bool = False


def read_rows(path: Path, options: PredictionOptions, cache: Path | None) -> Rows:
    """The records of a file. Raises DataError that names file, line and what was expected."""
    if not path.exists():
        raise DataError(f"{path}: no such file. Expected the answers as .jsonl, .json, .csv, .tsv, .xlsx or .parquet.")
    kind = _format(path, options.format)
    if kind == "xlsx":
        return _spreadsheet(path, options, cache)
    if kind == "csv":
        return _csv(path)
    if kind == "parquet":
        return _parquet(path)
    rows = list(jsonl_rows(path) if kind == "jsonl" else _json(path))
    return Rows(tuple(dict.fromkeys(name for row in rows for name in row.values)), rows)


def _format(path: Path, chosen: Format) -> Format:
    if chosen != "auto":
        return chosen
    found = _BY_SUFFIX.get(path.suffix.lower())
    if found is None:
        raise DataError(
            f"{path}: unknown kind of file {path.suffix!r}. Expected .jsonl, .json, .csv, .tsv, .xlsx or .parquet; "
            "or name it: format: jsonl | json | csv | xlsx | parquet | trajectory."
        )
    return found


def _spreadsheet(path: Path, options: PredictionOptions, cache: Path | None) -> Rows:
    sheet = read_sheet(path, options.sheet, cache)
    # Texts of the questions and golds are most of a response file: only columns that could be asked for are loaded.
    names = [name for name in dict.fromkeys(sheet.names) if name]
    columns = _Columns({name: partial(sheet.column, name) for name in names})
    rows = [Row(f"{path}: row {index + 2}", _SheetRow(columns, index)) for index in range(sheet.rows)]
    return Rows(tuple(names), rows, spreadsheet=True)


class _Columns(dict[str, list[Any]]):
    """Columns by name, loaded when first read."""

    def __init__(self, load: Mapping[str, Callable[[], list[Any]]]) -> None:
        super().__init__()
        self.load = load

    def __missing__(self, name: str) -> list[Any]:
        self[name] = self.load[name]()
        return self[name]


class _SheetRow(Mapping[str, Any]):
    """A row that looks into its columns."""

    def __init__(self, columns: _Columns, index: int) -> None:
        self._columns = columns
        self._index = index

    def __getitem__(self, name: str) -> Any:
        return self._columns[name][self._index]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns.load)

    def __len__(self) -> int:
        return len(self._columns.load)


def _csv(path: Path) -> Rows:
    """Cells as text: an empty cell and an empty text are one, and nothing is taken for a number or for missing."""
    import csv

    import pyarrow as pa
    from pyarrow import csv as arrow

    delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            names = next(csv.reader(stream, delimiter=delimiter), [])
        table = arrow.read_csv(
            path,
            parse_options=arrow.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            convert_options=arrow.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False),
        )
    except (pa.ArrowException, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path}: not readable as CSV in UTF-8 with a header row: {error}") from None
    return Rows(tuple(table.column_names), [Row(f"{path}: row {n + 2}", row) for n, row in enumerate(table.to_pylist())])


def _parquet(path: Path) -> Rows:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.ParquetFile(path).read()
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path}: not readable as Parquet: {error}") from None
    return Rows(tuple(table.column_names), [Row(f"{path}: row {n + 1}", row) for n, row in enumerate(table.to_pylist())])


def jsonl_rows(path: Path) -> Iterator[Row]:
    try:
        with path.open(encoding="utf-8-sig") as stream:
            for number, line in enumerate(stream, 1):
                if line.strip():
                    yield Row(f"{path}:{number}", _record(_parse(line, f"{path}:{number}"), f"{path}:{number}"))
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 text: {error}. Save it as UTF-8.") from None


def _json(path: Path) -> Iterator[Row]:
    """A list of records, {"data": [records]}, or a mapping of id to answer or record."""
    try:
        value = _parse(path.read_text(encoding="utf-8-sig"), str(path))
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 text: {error}. Save it as UTF-8.") from None
    if isinstance(value, dict) and isinstance(value.get("data"), list):
        value = value["data"]
    if isinstance(value, dict):
        for key, item in value.items():
            yield Row(f"{path}: {key!r}", {"id": key, **item} if isinstance(item, dict) else {"id": key, "answer": item})
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield Row(f"{path}: record {number}", _record(item, f"{path}: record {number}"))
    else:
        raise DataError(f"{path}: expected a JSON list of records or an object, found {type(value).__name__}.")


def _parse(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise DataError(f"{where}: not valid JSON: {error}") from None


def _record(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise DataError(f"{where}: expected an object with an id and an answer, found {type(value).__name__}.")
    return value
