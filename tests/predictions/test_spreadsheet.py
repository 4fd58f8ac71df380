"""Typed reading, the cache, and what Excel does to texts."""

from __future__ import annotations

import zipfile
from pathlib import Path

import openpyxl
import pytest

from vivavoce.errors import DataError
from vivavoce.spreadsheet import decode_escapes, read_sheet

ROWS = [["id", "answer", "n"], [1, "NA", 2.5], [2, None, 3], [3, "_x000D_ and _x005F_x000D_", True], [4, "a\tb\nc 模型", None]]


@pytest.fixture
def book(tmp_path: Path) -> Path:
    workbook = openpyxl.Workbook()
    for row in ROWS:
        workbook.active.append(row)
    workbook.create_sheet("second").append(["x"])
    workbook.save(tmp_path / "b.xlsx")
    return tmp_path / "b.xlsx"


def test_types_survive_with_and_without_cache(book: Path, tmp_path: Path) -> None:
    for cache in (None, tmp_path / "cache", tmp_path / "cache"):
        sheet = read_sheet(book, cache=cache)
        assert sheet.names == ("id", "answer", "n")
        assert sheet.column("id") == [1, 2, 3, 4]
        assert sheet.column("answer") == ["NA", None, "_x000D_ and _x005F_x000D_", "a\tb\nc 模型"]
        assert sheet.column("n") == [2.5, 3, True, None]
    assert len(list((tmp_path / "cache").iterdir())) == 1


def test_the_cache_follows_the_content(book: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    read_sheet(book, cache=cache)
    workbook = openpyxl.load_workbook(book)
    workbook.active["B2"] = "changed"
    workbook.save(book)
    assert read_sheet(book, cache=cache).column("answer")[0] == "changed"
    assert len(list(cache.glob("*.parquet"))) == 2


def test_a_damaged_cache_says_what_to_do(book: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    read_sheet(book, cache=cache)
    next(cache.glob("*.parquet")).write_bytes(b"PAR1")
    with pytest.raises(DataError, match="delete it and run again"):
        read_sheet(book, cache=cache)


def test_sheets_by_name(book: Path) -> None:
    assert read_sheet(book, "second").names == ("x",)
    with pytest.raises(DataError, match="no sheet 'third'"):
        read_sheet(book, "third")


def test_escapes() -> None:
    assert decode_escapes("a_x000D_b") == "a\rb"
    assert decode_escapes("_x005F_x000D_") == "_x000D_"


def test_a_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vivavoce.spreadsheet.MOST_BYTES", 1000)
    with zipfile.ZipFile(tmp_path / "b.xlsx", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b"0" * 100_000)
    with pytest.raises(DataError, match="unpacks to more than"):
        read_sheet(tmp_path / "b.xlsx")
