"""An opened corpus answers as its interface says, and names what it does not have."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

from vivavoce.corpus.base import Library
from vivavoce.corpus.library import open_library
from vivavoce.errors import DataError


def named(library: Library, title: str) -> str:
    return next(paper.id for paper in library.papers() if paper.title == title)


def test_papers_are_sorted_by_id(library: Library) -> None:
    ids = [paper.id for paper in library.papers()]
    assert ids == sorted(ids)
    assert all(library.paper(identity).id == identity for identity in ids)


def test_search_finds_the_paper(library: Library) -> None:
    for mode in ("lexical", "embedding", "hybrid"):
        hits = library.search("how do bats call", mode=mode, table="metadata", column="title_abstract", limit=3)  # type: ignore[arg-type]
        assert library.paper(hits[0].paper).title == "Voices of Bats"
    hits = library.search("fermentation of dough", limit=1)  # chunks have no embeddings here: hybrid is lexical
    assert (library.paper(hits[0].paper).title, hits[0].page) == ("Bread and Yeast", 1)


def test_search_within_papers(library: Library) -> None:
    glass = named(library, "Rivers of Glass")
    hits = library.search("the question is old", papers=[glass], limit=9)
    assert hits
    assert {hit.paper for hit in hits} == {glass}


def test_search_of_nothing_finds_nothing(library: Library) -> None:
    assert library.search("   ") == []
    assert library.search("bats", limit=0) == []


def test_columns(library: Library) -> None:
    assert library.columns() == [("chunks", "text_content"), ("metadata", "title"), ("metadata", "title_abstract")]


def test_full_text(library: Library) -> None:
    text = library.full_text(named(library, "Bread and Yeast"))
    assert text.startswith("Bread and Yeast\n\nAbstract\n\nWe study fermentation of dough.")


def test_page_images(library: Library) -> None:
    from PIL import Image

    glass = named(library, "Rivers of Glass")
    page = Image.open(io.BytesIO(library.page_image(glass, 1)))
    assert page.size == (1653, 2339)  # 595 x 842 points at 200 dpi
    crop = Image.open(io.BytesIO(library.page_image(glass, 1, [320, 340, 220, 48])))
    assert crop.size == pytest.approx((611, 133), abs=2)
    left, top = round(320 * 200 / 72), round(340 * 200 / 72)
    cut = page.crop((left, top, left + crop.width, top + crop.height)).convert("L")
    black = [int((np.asarray(image.convert("L")) < 128).sum()) for image in (cut, crop)]
    assert black[0] == pytest.approx(black[1], rel=0.05)
    assert black[0] > 500


@pytest.mark.parametrize("box", [[0, 0, 0, 0], [900, 900, 10, 10], [1, 2, 3], [0, 0, float("inf"), 5], ["a", 1, 1, 1]])
def test_wrong_boxes_are_refused(library: Library, box: list[float]) -> None:
    with pytest.raises(DataError, match="bounding box"):
        library.page_image(library.papers()[0].id, 1, box)


@pytest.mark.parametrize("page", [0, 2, -1])
def test_pages_that_are_not_there(library: Library, page: int) -> None:
    with pytest.raises(DataError, match="pages 1 to 1"):
        library.page_image(library.papers()[0].id, page)


def test_unknown_papers_are_named(library: Library) -> None:
    for call in (
        library.paper,
        library.full_text,
        lambda p: library.page_image(p, 1),
        lambda p: library.search("x", papers=[p]),
    ):
        with pytest.raises(DataError, match=r"etc/passwd"):
            call("../../etc/passwd")


def test_unknown_columns_are_named(library: Library) -> None:
    with pytest.raises(DataError, match=r"pages\.page_content is not searchable"):
        library.search("x", table="pages", column="page_content")
    with pytest.raises(DataError, match="no embeddings"):
        library.search("x", mode="embedding")


def test_no_corpus_and_old_corpora_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no corpus here"):
        open_library(tmp_path)
    (tmp_path / "manifest.json").write_text('{"version": 0}')
    with pytest.raises(DataError, match="version 0"):
        open_library(tmp_path)
    (tmp_path / "manifest.json").write_text("{")
    with pytest.raises(DataError, match="not JSON"):
        open_library(tmp_path)
