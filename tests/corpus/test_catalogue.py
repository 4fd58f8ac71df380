"""Catalogues in every form that they come in, and the published rule of paper ids."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from vivavoce.corpus.catalogue import read_catalogue
from vivavoce.corpus.ids import paper_id, row_id
from vivavoce.errors import DataError

PUBLISHED = {
    "uuid": "9ec6a3b0-0000-5000-8000-000000000001",
    "title": "A Title",
    "conference": "ACL",
    "year": 2023,
    "abstract": "Words.",
    "authors": ["A", "B"],
    "pdf_path": "data/dataset/airqa/papers/acl2023/9ec6a3b0.pdf",
    "tldr": "ignored",
    "num_pages": 9,
}


def test_ids_follow_the_published_rule() -> None:
    assert paper_id("A Title!", "ACL", 2023) == paper_id("a-title", "acl", 2023)
    assert paper_id("A Title", "acl", 2023) != paper_id("A Title", "acl", 2024)
    assert paper_id("A Title") == paper_id("a title", "")
    title = "Question-Analysis Prompting Improves LLM Performance in Reasoning Tasks"
    assert paper_id(title, "ACL", 2024) == "000ab6db-4b65-5dc0-8393-fbc2c05843c8"
    assert row_id("p", "chunks", 1) != row_id("p", "chunks", 2) != row_id("p", "pages", 2)


def write(path: Path, values: list[Any]) -> Path:
    if path.suffix == ".json":
        path.write_text(json.dumps(values))
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(value) + "\n" for value in values))
    elif path.suffix == ".gz":
        with tarfile.open(path, "w:gz") as archive:
            for number, value in enumerate(values):
                text = json.dumps(value).encode()
                member = tarfile.TarInfo(f"repository/metadata/{number}.json")
                member.size = len(text)
                archive.addfile(member, io.BytesIO(text))
    else:
        path.mkdir()
        for number, value in enumerate(values):
            (path / f"{number}.json").write_text(json.dumps(value))
    return path


@pytest.mark.parametrize("name", ["papers.json", "papers.jsonl", "papers.tar.gz", "papers"])
def test_all_forms_give_the_same_entries(tmp_path: Path, name: str) -> None:
    own = {"title": "Other", "venue": "acl", "year": 2024, "pdf": "other.pdf"}
    entries = read_catalogue(write(tmp_path / name, [PUBLISHED, own]))
    assert {(e.title, e.venue, e.year, e.pdf) for e in entries} == {
        ("A Title", "ACL", 2023, "9ec6a3b0.pdf"),
        ("Other", "acl", 2024, "other.pdf"),
    }
    assert {e.id for e in entries} == {PUBLISHED["uuid"], paper_id("Other", "acl", 2024)}
    assert [e.id for e in entries] == sorted(e.id for e in entries)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.json", "[{]", "x.json: not JSON"),
        ("x.json", '[{"title": ""}]', r"x.json\[0\]: not a paper"),
        ("x.jsonl", '{"title": "A"}\n{"name": "B"}\n', "x.jsonl:2: not a paper"),
        ("x.json", '[{"title": "A", "year": "soon"}]', "year"),
        ("x.json", '[{"title": "A"}, {"title": "a"}]', "stand twice"),
        ("x.json", "[]", "no papers in it"),
        ("x.json", '["A"]', "not a paper"),
        ("x.tar.gz", "not an archive", "not a readable archive"),
    ],
)
def test_garbage_is_named(tmp_path: Path, name: str, content: str, message: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(DataError, match=message):
        read_catalogue(tmp_path / name)


@pytest.mark.parametrize("name", ["none.json", "none.jsonl", "none.tar.gz"])
def test_a_missing_catalogue_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError, match="no such catalogue"):
        read_catalogue(tmp_path / name)


def test_the_published_acl_metadata(mirror: Path) -> None:
    archive = mirror / "github.com/OpenDFM/NeuSym-RAG/archive/247b9215743bd1e0cbdfd7d86a3298f109b3ed1c.tar.gz"
    if not archive.is_file():
        pytest.skip(f"no upstream data: {archive} is missing")
    entries = read_catalogue(archive)
    assert len(entries) == 5792
    assert sum(entry.year == 2023 for entry in entries) == 3083
    assert all(entry.abstract and entry.pdf_url for entry in entries)
    assert all(entry.id == paper_id(entry.title, entry.venue, entry.year) for entry in entries)
