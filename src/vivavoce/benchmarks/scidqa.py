"""SciDQA: 2,937 questions that reviewers asked about 576 papers, answered by the authors (Singh et al., EMNLP 2024).

Sources: yale-nlp/SciDQA@5749c53d `src/data/scidqa.xlsx` and one response file of `src/data_resp/`, and the form in which
OpenDFM/NeuSym-RAG@596e644e `data/dataset/scidqa/` uses the same questions. A YAML file names
`read: vivavoce.benchmarks.scidqa:read` with any of these asset keys:

    released   scidqa.xlsx: ids, questions and the released answers
    embedded   any response file: the older revision that it embeds, which the authors' scorer uses
    neusym     test_data.jsonl: a paper's uuid and the tags table, image, formula
    mappings   mappings.json: paper id -> uuid

`released`, or `neusym` alone (then ids are uuids), must be there. Option `subset: tagged` keeps the 775 questions with a tag.
The gold stands in both revisions, `gold["released"]` and `gold["embedded"]`, as written (a leading "A: " included).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from vivavoce.errors import ConfigError, DataError
from vivavoce.files import sample
from vivavoce.records import Question
from vivavoce.spreadsheet import Sheet, read_sheet

_TAGS = ("table", "image", "formula")
_FORMAT = "A concise answer in free text."
Record = dict[str, Any]


def read(files: Mapping[str, Path], options: Mapping[str, Any]) -> Iterator[Question]:
    """Yield the questions in the order of the file (by id).

    Slices: `subset775` for the questions with at least one of the tags, and each tag. Cluster: the paper.
    Raises ConfigError for an unknown option and DataError, with file and id, for files that do not fit together.
    """
    subset = options.get("subset", "all")
    if set(options) - {"subset"} or subset not in ("all", "tagged"):
        raise ConfigError(f"scidqa: options are {dict(options)}; expected subset: all or tagged.")
    if "released" in files:
        questions = _released(files)
    elif "neusym" in files:
        questions = _neusym(files["neusym"])
    else:
        raise ConfigError("scidqa: neither asset 'released' (scidqa.xlsx) nor 'neusym' (test_data.jsonl) is given.")
    yield from (question for question in questions if subset == "all" or "subset775" in question.slices)


def _released(files: Mapping[str, Path]) -> Iterator[Question]:
    path = files["released"]
    rows = _rows(path, "id", "que", "ans", "pid", "year", "venue", "version")
    older = _rows(files["embedded"], "id", "ans", "version") if "embedded" in files else {}
    if older and older.keys() != rows.keys():
        odd = sample(older.keys() ^ rows.keys())
        raise DataError(f"{files['embedded']}: its ids are not those of {path}: {odd}. Expected a SciDQA response file.")
    known = _by_content(files["neusym"]) if "neusym" in files else {}
    papers = _json(files["mappings"]) if "mappings" in files else {}
    unmatched = []
    for identity, row in rows.items():
        matches = known.get((row["que"], row["ans"]), [])
        record = matches.pop(0) if matches else {}
        if known and not record:
            unmatched.append(identity)
        paper = papers.get(row["pid"]) or next(iter(record.get("anchor_pdf", ())), "")
        gold = {"released": row["ans"], "version": row["version"]}
        if older:
            gold |= {"embedded": older[identity]["ans"], "embedded_version": older[identity]["version"]}
        yield Question(
            id=identity,
            benchmark="scidqa",
            task="scidqa",
            text=row["que"],
            answer_format=record.get("answer_format") or _FORMAT,
            papers=(paper,) if paper else (),
            slices=_slices(record.get("tags", ())),
            cluster=row["pid"],
            gold=gold,
            extra={"venue": row["venue"], "year": row["year"]} | ({"aliases": [record["uuid"]]} if record else {}),
        )
    if unmatched:
        raise DataError(f"{files['neusym']}: no record for {len(unmatched)} question(s) of {path}: {sample(unmatched)}.")


def _neusym(path: Path) -> Iterator[Question]:
    """Records in NeuSym-RAG's form alone: {uuid, question, tags, anchor_pdf, evaluator: {eval_kwargs: {reference_answer}}}."""
    for record in _records(path):
        papers = tuple(record.get("anchor_pdf", ()))
        yield Question(
            id=record["uuid"],
            benchmark="scidqa",
            task="scidqa",
            text=record["question"],
            answer_format=record.get("answer_format") or _FORMAT,
            papers=papers,
            slices=_slices(record.get("tags", ())),
            cluster=papers[0] if papers else "",
            gold={"released": _reference(record)},
        )


def _slices(tags: Any) -> tuple[str, ...]:
    found = tuple(tag for tag in _TAGS if tag in tags)
    return (*found, "subset775") if found else ()


def _rows(path: Path, *names: str) -> dict[str, Record]:
    """The named columns by id, in the order of ids."""
    sheet: Sheet = read_sheet(path)
    if missing := [name for name in names if name not in sheet.names]:
        raise DataError(f"{path}: no column {', '.join(missing)}; it has {', '.join(sheet.names)}. Expected a SciDQA file.")
    columns = {name: sheet.column(name) for name in names}
    rows: dict[str, Record] = {}
    for index, identity in enumerate(columns["id"]):
        if not isinstance(identity, int) or str(identity) in rows:
            raise DataError(f"{path}: row {index + 2}: id is {identity!r}; expected a whole number that stands once.")
        rows[str(identity)] = {name: _text(column[index]) for name, column in columns.items()}
    return dict(sorted(rows.items(), key=lambda item: int(item[0])))


def _text(cell: Any) -> str:
    return "" if cell is None else str(cell)


def _by_content(path: Path) -> dict[tuple[str, str], list[Record]]:
    """NeuSym-RAG dropped the ids; question and reference answer name a record (the one pair of duplicates keeps its order)."""
    found: dict[tuple[str, str], list[Record]] = {}
    for record in _records(path):
        found.setdefault((record["question"], _reference(record)), []).append(record)
    return found


def _records(path: Path) -> Iterator[Record]:
    with path.open(encoding="utf-8") as stream:
        for number, line in enumerate(stream, 1):
            if not line.strip():
                continue
            try:
                record = json.loads(line)
                _reference(record)
                if not (isinstance(record["uuid"], str) and isinstance(record["question"], str)):
                    raise TypeError("uuid and question must be texts")
            except (json.JSONDecodeError, KeyError, TypeError) as error:
                raise DataError(
                    f"{path}:{number}: not a SciDQA record in NeuSym-RAG's form ({error}). Expected uuid, question and "
                    "evaluator.eval_kwargs.reference_answer."
                ) from None
            yield record


def _reference(record: Record) -> str:
    return str(record["evaluator"]["eval_kwargs"]["reference_answer"])


def _json(path: Path) -> Record:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise DataError(f"{path}: not valid JSON: {error}") from None
    if not isinstance(value, dict):
        raise DataError(f"{path}: expected a mapping of paper id to uuid, found {type(value).__name__}.")
    return value
