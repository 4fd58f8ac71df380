"""Which published numbers cannot be right (the specification's section 5)."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vivavoce.metrics.consistency import counts, flags, possible, weighs

SIZES = {
    "text": 470,
    "table": 101,
    "image": 42,
    "formula": 36,
    "metadata": 22,
    "single": 159,
    "multiple": 150,
    "retrieval": 244,
    "objective": 446,
    "subjective": 107,
    "all": 553,
}
KINDS = ("single", "multiple", "retrieval")


@given(st.integers(1, 600), st.data())
def test_every_real_percentage_is_possible(n: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, n))
    assert float(k) in counts(round(100 * k / n, 1), n)
    assert 0.5 * k in counts(round(50 * k / n, 2), n, decimals=2, unit=0.5)


def test_impossible_ones() -> None:
    assert not possible(32.3, 150)
    assert counts(21.3, 150) == [32.0]
    assert not possible(14.7, 553)
    assert not possible(10.0, 553)
    assert possible(12.5, 40)
    assert not possible(12.5, 42)
    assert possible(0.0, 7)
    assert possible(100.0, 7)
    with pytest.raises(ValueError, match="n >= 1"):
        counts(50, 0)


def test_weighing() -> None:
    found = weighs({"single": 28.3, "multiple": 21.3, "retrieval": 58.2}, SIZES, 39.6)
    assert found.fits
    assert not weighs({"single": 28.3, "multiple": 32.3, "retrieval": 58.2}, SIZES, 39.6).fits
    with pytest.raises(ValueError, match="no size for other"):
        weighs({"other": 1.0}, SIZES, 1.0)


def test_the_published_tables(shared: Path) -> None:
    rows: dict[tuple[str, str, str], dict[str, float]] = {}
    with (shared / "published" / "airqa.csv").open(encoding="utf-8", newline="") as stream:
        for line in csv.DictReader(stream):
            if line["dataset"] == "AirQA-Real" and line["metric"] == "accuracy_pct" and line["table"] in ("Table 2", "Table 3"):
                column = "all" if line["category"] == "AVG" else line["category"]
                rows.setdefault((line["table"], line["model"].split("-Instruct")[0], line["method"]), {})[column] = float(
                    line["value"]
                )
    parts = {key: KINDS if key[0] == "Table 3" else () for key in rows}
    found = {key: flags(row, SIZES, parts[key]) for key, row in rows.items()}
    flagged = {key: set(columns) for key, columns in found.items() if columns}
    assert len(rows) == 22
    qwen = "Qwen2.5-VL-72B"
    assert flagged == {
        ("Table 2", "GPT-4o-mini", "Classic-RAG"): {"image"},
        ("Table 2", "GPT-4V", "Classic-RAG"): {"image", "all"},
        ("Table 2", "Llama-3.3-70B", "Classic-RAG"): {"all"},
        ("Table 3", qwen, "Question only"): {"subjective"},
        ("Table 3", qwen, "Two-stage Sym-RAG"): {"single", "multiple", "subjective", "all"},
        ("Table 3", qwen, "Graph-RAG"): {"single", "multiple", "subjective", "objective", "all"},
        ("Table 3", qwen, "NeuSym-RAG"): {"multiple", "all"},
    }
    assert "weigh to 42.6 %, not 39.6 %" in found["Table 3", qwen, "NeuSym-RAG"]["all"]
    assert "weigh to 9.4 %, not 15.6 %" in found["Table 3", qwen, "Graph-RAG"]["all"]
