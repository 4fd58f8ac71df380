"""Ingestion is deterministic, survives bad PDFs and kills, and pays once."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import pytest

import vivavoce.corpus.parsing as parsing
from vivavoce.config.corpus import CorpusConfig, IndexConfig
from vivavoce.corpus.database import connect_read_only
from vivavoce.corpus.ingest import ingest
from vivavoce.corpus.library import open_library
from vivavoce.corpus.parse import ParsedPaper, Parsing
from vivavoce.errors import ConfigError, DataError

WORDS = CorpusConfig(name="small", source="pdfs", index=IndexConfig(embedding=(), lexical=("chunks.text_content",)))
Make = Callable[..., Path]


def test_two_ingests_are_equal(corpus: Path, inputs: dict[str, Path], config: CorpusConfig, tmp_path: Path) -> None:
    """In another folder, without cache, with two processes: the same tables, manifest and search results."""
    again = ingest(config, inputs, tmp_path / "elsewhere" / "small", processes=2, threads=2)
    assert again == json.loads((corpus / "manifest.json").read_text())
    text = (tmp_path / "elsewhere" / "small" / "manifest.json").read_text()
    assert text == (corpus / "manifest.json").read_text()
    assert str(tmp_path) not in text
    one, two = open_library(corpus), open_library(tmp_path / "elsewhere" / "small")
    for mode in ("lexical", "embedding", "hybrid"):
        column = {"table": "metadata", "column": "title_abstract"}
        assert one.search("the rivers of glaciers", mode=mode, **column) == two.search(
            "the rivers of glaciers", mode=mode, **column
        )  # type: ignore[arg-type]


def test_a_catalogue_names_the_papers(corpus: Path) -> None:
    papers = {paper.title: paper for paper in open_library(corpus).papers()}
    assert sorted(papers) == ["Bread and Yeast", "Rivers of Glass", "Voices of Bats"]
    glass = papers["Rivers of Glass"]
    assert (glass.venue, glass.year, glass.authors, glass.abstract) == ("acl", 2023, ("A. One",), "Glaciers feed rivers.")
    assert papers["Bread and Yeast"].abstract.startswith("We study fermentation of dough.")  # from its first page


def test_bad_pdfs_are_named_and_the_rest_goes_on(tmp_path: Path, make_pdf: Make, draw_paper: Any) -> None:
    source = tmp_path / "pdfs"
    source.mkdir()
    make_pdf(source / "good.pdf", draw_paper("A Good Paper", "goodness"))
    shutil.copy(source / "good.pdf", source / "same.pdf")
    (source / "corrupt.pdf").write_bytes(b"%PDF-1.4 nothing more")
    (source / "empty.pdf").write_bytes(b"")
    make_pdf(source / "blank.pdf", lambda page: None)
    manifest = ingest(WORDS, {"pdfs": source}, tmp_path / "corpus")
    assert manifest["papers"] == 1
    assert [item["name"] for item in manifest["skipped"]] == ["blank.pdf", "corrupt.pdf", "empty.pdf", "same.pdf"]
    assert manifest["skipped_counts"] == {"corrupt": 1, "duplicate": 1, "empty": 2}


def test_catalogue_entries_without_a_pdf_are_named(tmp_path: Path, inputs: dict[str, Path]) -> None:
    (tmp_path / "papers.json").write_text(json.dumps([{"title": "Never Seen", "pdf": "never.pdf"}]))
    manifest = ingest(WORDS, {**inputs, "catalogue": tmp_path / "papers.json"}, tmp_path / "corpus")
    (missing,) = manifest["skipped"]
    assert "Never Seen" in missing["name"]
    assert missing["reason"].startswith("missing")


def test_no_paper_at_all_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "pdfs").mkdir()
    (tmp_path / "pdfs" / "empty.pdf").write_bytes(b"")
    with pytest.raises(DataError, match="1 empty"):
        ingest(WORDS, {"pdfs": tmp_path / "pdfs"}, tmp_path / "corpus")
    with pytest.raises(DataError, match="'pdfs'"):
        ingest(WORDS, {"pdfs": tmp_path / "nowhere"}, tmp_path / "corpus")


def test_a_killed_ingest_goes_on(tmp_path: Path, inputs: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """The second try parses only what the first did not."""
    parsed: list[str] = []
    real = parsing.parse_pdf

    def parse_two(path: Path, settings: Parsing) -> ParsedPaper:
        if len(parsed) == 2:
            raise KeyboardInterrupt
        parsed.append(path.name)
        return real(path, settings)

    monkeypatch.setattr(parsing, "parse_pdf", parse_two)
    with pytest.raises(KeyboardInterrupt):
        ingest(WORDS, inputs, tmp_path / "corpus", processes=1)
    assert not (tmp_path / "corpus" / "manifest.json").exists()
    monkeypatch.setattr(parsing, "parse_pdf", lambda path, settings: parsed.append(path.name) or real(path, settings))
    manifest = ingest(WORDS, inputs, tmp_path / "corpus", processes=1)
    assert (parsed, manifest["papers"]) == (["a.pdf", "b.pdf", "c.pdf"], 3)


def test_other_options_parse_again(tmp_path: Path, inputs: dict[str, Path]) -> None:
    first = ingest(WORDS, inputs, tmp_path / "one", processes=1)
    tokens = WORDS.model_copy(update={"chunks": WORDS.chunks.model_copy(update={"unit": "tokens", "size": 32})})
    second = ingest(tokens, inputs, tmp_path / "two", processes=1)
    assert second["rows"]["chunks"] > first["rows"]["chunks"]
    with connect_read_only(tmp_path / "one" / "papers.duckdb") as connection:
        assert connection.execute("SELECT max(length(text_content)) <= 512 FROM chunks").fetchone() == (True,)


def test_a_slow_pdf_is_skipped(tmp_path: Path, inputs: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    import time

    real = parsing.parse_pdf

    def sleepy(path: Path, settings: Parsing) -> ParsedPaper:
        if path.name == "b.pdf":
            time.sleep(5)
        return real(path, settings)

    monkeypatch.setattr(parsing, "parse_pdf", sleepy)
    manifest = ingest(WORDS.model_copy(update={"seconds_per_pdf": 2.0}), inputs, tmp_path / "corpus", processes=1)
    assert manifest["papers"] == 2
    assert manifest["skipped_counts"]["slow"] == 1


def test_a_catalogue_corpus_needs_no_pdf(tmp_path: Path, inputs: dict[str, Path]) -> None:
    names = ("metadata.title", "chunks.text_content")
    config = CorpusConfig(name="titles", source="catalogue", index=IndexConfig(embedding=(), lexical=names))
    ingest(config, {"catalogue": inputs["catalogue"]}, tmp_path / "corpus")
    library = open_library(tmp_path / "corpus")
    assert library.columns() == [("metadata", "title")]
    (hit,) = library.search("bats", table="metadata", column="title")
    assert library.paper(hit.paper).title == "Voices of Bats"
    assert library.full_text(hit.paper) == "Voices of Bats\n\nBats call in the dark."
    with pytest.raises(DataError, match="no PDF"):
        library.page_image(hit.paper, 1)


@pytest.mark.parametrize("name", ["nowhere.text", "chunks.nothing"])
def test_an_unknown_column_is_named(tmp_path: Path, inputs: dict[str, Path], name: str) -> None:
    config = WORDS.model_copy(update={"index": IndexConfig(embedding=(), lexical=(name,))})
    with pytest.raises(ConfigError, match=name):
        ingest(config, inputs, tmp_path / "corpus")


def test_a_pdf_that_crashes_its_process_is_found_and_skipped(
    tmp_path: Path, inputs: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pool dies with everything that was under way; each PDF is then tried in a process of its own."""

    def pool(jobs: list[Any], processes: int) -> Iterator[Future[str]]:
        for job in jobs:
            future: Future[str] = Future()
            if job[0].name == "b.pdf":
                future.set_exception(BrokenProcessPool("died"))
            else:
                future.set_result(parsing._keep(job))
            yield future

    monkeypatch.setattr(parsing, "_pool", pool)
    manifest = ingest(WORDS, inputs, tmp_path / "corpus", processes=2)
    assert manifest["papers"] == 2
    assert {"name": "b.pdf", "reason": "corrupt: it crashes the PDF reader"} in manifest["skipped"]
