"""The specimen's committed files, read once for all tests of this folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def specimen(root: Path) -> Path:
    return root / "specimen"


@pytest.fixture(scope="session")
def catalogue(specimen: Path) -> dict[str, dict[str, Any]]:
    """Paper id -> entry of papers.json."""
    return {entry["id"]: entry for entry in json.loads((specimen / "papers.json").read_text(encoding="utf-8"))}


@pytest.fixture(scope="session")
def raw_sources(specimen: Path, catalogue: dict[str, dict[str, Any]]) -> dict[str, str]:
    """Paper id -> the Markdown source, its charts' numbers included."""
    return {id_: (specimen / "papers" / f"{e['key']}.md").read_text(encoding="utf-8") for id_, e in catalogue.items()}


@pytest.fixture(scope="session")
def pages(specimen: Path, catalogue: dict[str, dict[str, Any]]) -> dict[str, list[str]]:
    """Paper id -> the text of each page as pypdfium2 extracts it, with blanks collapsed."""
    import pypdfium2

    found = {}
    for id_, entry in catalogue.items():
        document = pypdfium2.PdfDocument(specimen / "pdfs" / entry["pdf"])
        found[id_] = [" ".join(page.get_textpage().get_text_range().split()) for page in document]
        document.close()
    return found


@pytest.fixture(scope="session")
def texts(pages: dict[str, list[str]]) -> dict[str, str]:
    return {id_: " ".join(parts) for id_, parts in pages.items()}


@pytest.fixture(scope="session")
def questions(specimen: Path) -> dict[str, list[dict[str, Any]]]:
    """File stem -> records."""
    files = sorted((specimen / "questions").glob("*.jsonl"))
    found = {file.stem: [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] for file in files}
    for stem in ("cs", "multi"):
        found[stem] = json.loads((specimen / "questions" / f"{stem}.json").read_text(encoding="utf-8"))
    return found
