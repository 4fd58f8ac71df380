"""What the agent shows: passages cleaned of marks that would pass for citations, without empty ones and repeats.

Source: AkariAsai/OpenScholar@0e9b8fb9 `run.py` L55 (cleaning; upstream keeps the last of two equal passages, we the first,
so that no number moves).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from vivavoce.corpus.base import Library, SearchMode
from vivavoce.errors import DataError
from vivavoce.files import digest
from vivavoce.records import Passage, Question
from vivavoce.tools.search import classic_place, hit_passage

_MARK = re.compile(r"<cit\.?>|\[\s*\d+(?:\s*[,;–-]\s*\d+)*\s*\]")


def tidy(passages: Iterable[Passage], known: Sequence[Passage] = ()) -> list[Passage]:
    """Passages with a text, each once (by title and first 100 characters), none of `known` again, citation marks removed."""
    seen = {_key(passage) for passage in known}
    kept = []
    for passage in passages:
        clean = replace(passage, text=re.sub(r" {2,}", " ", _MARK.sub("", passage.text)).strip())
        if clean.text and _key(clean) not in seen:
            seen.add(_key(clean))
            kept.append(clean)
    return kept


def found(library: Library, query: str, question: Question, mode: SearchMode, limit: int) -> list[Passage]:
    """The nearest passages of a corpus, within the question's papers if it names any."""
    table, column = classic_place(library)
    hits = library.search(query, mode=mode, table=table, column=column, papers=question.papers, limit=limit)
    return [hit_passage(hit, library) for hit in hits]


def contexts_of(path: Path) -> dict[str, list[Passage]]:
    """`ctxs` of a predictions file (a JSON list, an object with `data`, or JSONL), by the record's id and by its question."""
    try:
        text = path.read_text(encoding="utf-8")
        value = (
            [json.loads(line) for line in text.splitlines() if line.strip()] if path.suffix == ".jsonl" else json.loads(text)
        )
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: no predictions file can be read: {error}. Expected JSON or JSONL with ctxs.") from None
    records = value.get("data") if isinstance(value, dict) else value
    if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
        raise DataError(f"{path}: expected a list of records, or an object with the key data.")
    index: dict[str, list[Passage]] = {}
    for number, record in enumerate(records):
        passages = [_passage(item, f"{path}: record {number}") for item in record.get("ctxs") or ()]
        for key in ("id", "case_id", "input", "question", "query"):
            if isinstance(record.get(key), str):
                index.setdefault(record[key].strip(), passages)
    return index


def _passage(item: Any, where: str) -> Passage:
    if not isinstance(item, Mapping):
        raise DataError(f"{where}: a context is {type(item).__name__}; expected an object with title and text.")
    text = item.get("text", item.get("retrieval text", ""))
    if isinstance(text, Mapping):
        text = " ".join(map(str, text.get("contexts", ())))
    title = str(item.get("title") or "")
    text = text if isinstance(text, str) else ""
    return Passage(id=f"p{digest([title, text])[:10]}", title=title, text=text, paper=str(item.get("paperId") or ""))


def _key(passage: Passage) -> tuple[str, str]:
    return passage.title, passage.text[:100]
