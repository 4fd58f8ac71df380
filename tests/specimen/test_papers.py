"""The eight papers have what real ones have, and text extraction finds it."""

from __future__ import annotations

import re
import uuid
from pathlib import Path
from typing import Any

import yaml

Catalogue = dict[str, dict[str, Any]]


def fenced(source: str, kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```", source, re.M | re.S)


def flat(text: str) -> str:
    return " ".join(re.sub(r"\*\*?(.+?)\*\*?", r"\1", text).split())


def test_there_are_eight_small_papers_of_three_to_five_pages(
    specimen: Path, catalogue: Catalogue, pages: dict[str, Any]
) -> None:
    assert len(catalogue) == 8
    files = {path.name for path in (specimen / "pdfs").iterdir()}
    assert files == {entry["pdf"] for entry in catalogue.values()}
    for id_, entry in catalogue.items():
        assert entry["pdf"] == f"{id_}.pdf"
        assert (specimen / "pdfs" / entry["pdf"]).stat().st_size < 120_000
        assert 3 <= entry["num_pages"] == len(pages[id_]) <= 5


def test_ids_follow_the_published_rule(catalogue: Catalogue) -> None:
    for id_, entry in catalogue.items():
        norm = "".join(c for c in entry["title"].lower() if c in "abcdefghijklmnopqrstuvwxyz0123456789")
        assert id_ == str(uuid.uuid5(uuid.NAMESPACE_DNS, f"{norm}-{entry['venue']}{entry['year']}"))


def test_catalogue_agrees_with_the_sources(catalogue: Catalogue, raw_sources: dict[str, str]) -> None:
    for id_, entry in catalogue.items():
        head = yaml.safe_load(raw_sources[id_].split("---\n")[1])
        assert {key: entry[key] for key in ("title", "abstract", "authors", "venue", "year", "volume")} == {
            key: head[key] for key in ("title", "abstract", "authors", "venue", "year", "volume")
        }
        assert entry["title"] in entry["bibtex"] and str(entry["year"]) in entry["bibtex"]


def test_first_page_has_title_block_and_abstract(
    catalogue: Catalogue, raw_sources: dict[str, str], pages: dict[str, Any]
) -> None:
    for id_, entry in catalogue.items():
        head = yaml.safe_load(raw_sources[id_].split("---\n")[1])
        first = pages[id_][0]
        assert first.startswith(f"{entry['conference_full']} ({entry['venue'].upper()} {entry['year']})")
        for part in (entry["title"], ", ".join(entry["authors"]), *head["affiliations"], head["email"], entry["abstract"]):
            assert part in first, part


def test_captions_tables_equations_and_references_are_extracted(raw_sources: dict[str, str], texts: dict[str, str]) -> None:
    for id_, source in raw_sources.items():
        text = texts[id_]
        tables = [yaml.safe_load(block) for block in fenced(source, "table")]
        assert tables
        for number, table in enumerate(tables, 1):
            assert f"Table {number}: {table['caption']}" in text
            for row in table["rows"]:
                assert " ".join(row) in text, row
        figures = [yaml.safe_load(block) for block in fenced(source, "figure")]
        assert len(figures) == 1
        assert f"Figure 1: {figures[0]['caption']}" in text
        equations = fenced(source, "equation")
        assert len(equations) >= 2
        for number in range(1, len(equations) + 1):
            assert f"({number})" in text
        assert "1 Introduction" in text and "References [1]" in text
        assert "Invented specimen of the Vivavoce project: no such study exists." in text


def test_prose_is_extracted_whole(raw_sources: dict[str, str], texts: dict[str, str]) -> None:
    missing = []
    for id_, source in raw_sources.items():
        body = re.sub(r"^```\w+\n.*?^```\n?", "\n\n", source.split("---\n", 2)[2], flags=re.M | re.S)
        for sentence in re.split(r"(?<=\.)\s+|\n\s*\n", body):
            plain = flat(sentence)
            if plain and not plain.startswith("#") and "[@" not in plain and plain not in texts[id_]:
                missing.append(plain)
    # A sentence that runs over a page or column end is broken by the footer: few may be.
    assert len(missing) <= 12, missing


def test_mentioned_tables_figures_and_equations_exist(raw_sources: dict[str, str]) -> None:
    for source in raw_sources.values():
        body = source.split("---\n", 2)[2]
        tables, figures = len(fenced(source, "table")), len(fenced(source, "figure"))
        assert {int(n) for n in re.findall(r"Table (\d)", body)} == set(range(1, tables + 1))
        assert {int(n) for n in re.findall(r"Figure (\d)", body)} == set(range(1, figures + 1))


def test_papers_cite_each_other_and_only_what_they_list(catalogue: Catalogue, raw_sources: dict[str, str]) -> None:
    keys = {entry["key"]: entry for entry in catalogue.values()}
    links = set()
    for id_, source in raw_sources.items():
        head = yaml.safe_load(source.split("---\n")[1])
        listed = {next(iter(item)) if isinstance(item, dict) else item for item in head["references"]}
        cited = set(re.findall(r"@(\w+)", "".join(re.findall(r"\[@[^\]]*\]", source))))
        assert cited == listed, catalogue[id_]["key"]
        for key in cited & set(keys):
            links.add((catalogue[id_]["key"], key))
            assert keys[key]["year"] <= head["year"]
    assert len(links) >= 8


def test_titles_have_distinct_vocabulary(catalogue: Catalogue) -> None:
    small = {"for", "with", "in", "of", "and", "a", "the", "across"}
    words = [set(re.findall(r"[a-z]+", entry["title"].lower())) - small for entry in catalogue.values()]
    for i, one in enumerate(words):
        for other in words[i + 1 :]:
            assert len(one & other) <= 1
