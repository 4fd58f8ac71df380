"""Reads records in AirQA-Real's format: AirQA-Real itself, and M3SciQA and SciDQA as NeuSym-RAG converted them.

Source: OpenDFM/NeuSym-RAG@596e644e `data/dataset/{airqa,m3sciqa,scidqa}/test_data*.jsonl`. The asset is `questions`; options:

    {dataset: airqa | m3sciqa | scidqa, benchmark: <name>, errata: true | false, tags: [..], conferences: [..], ids: [..]}

`reference_pdf` and `reasoning_steps` are hints to the gold answer and go nowhere. Defects of records are listed in
airqa_errata.yaml (uuid, kind, effect, repair): with `errata` (the default) wrong venues are put right before anything filters
by venue, and each question's entries go to its gold, where the corrected grading applies their repairs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.resources import files as package_files
from pathlib import Path
from typing import Any

import msgspec
import yaml

from vivavoce.errors import ConfigError, DataError
from vivavoce.files import sample
from vivavoce.records import Question

DATASETS = ("airqa", "m3sciqa", "scidqa")
OPTIONS = ("dataset", "benchmark", "errata", "tags", "conferences", "ids")
TAGS = {"figure": "image"}  # two records say figure; the paper counts them as image


class Evaluator(msgspec.Struct, frozen=True):
    """Which function scores the answer, with which keywords."""

    eval_func: str
    eval_kwargs: dict[str, Any]


class Record(msgspec.Struct, frozen=True):
    """The fields of a record that are read; others (state, annotator, reasoning_steps, reference_pdf) are left out."""

    uuid: str
    question: str
    tags: list[str]
    evaluator: Evaluator
    answer_format: str = ""
    anchor_pdf: list[str] = []
    conference: list[str] = []


def read(files: Mapping[str, Path], options: Mapping[str, Any]) -> Iterator[Question]:
    """Yield the questions in the order of the file, filtered by the options.

    `tags`: only records that have all of these; `conferences`: only records with a venue list, all of it within these;
    `ids`: only these records. Slices: the record's tags, `llm_free` where no judge is needed; among retrieval questions with
    errata, `venue_errata` (its venue was put right) or `venue_given`. Raises ConfigError for a wrong option, DataError with
    file and line for a malformed or duplicate record, and for `ids` that the file has not.
    """
    unknown = sorted(set(options) - set(OPTIONS))
    dataset, errata = options.get("dataset", "airqa"), options.get("errata", True)
    if unknown or dataset not in DATASETS or not isinstance(errata, bool):
        raise ConfigError(
            f"airqa reader: unknown options {unknown}, dataset {dataset!r} or errata {errata!r}. Expected the options "
            f"{', '.join(OPTIONS)}; dataset one of {', '.join(DATASETS)}; errata true or false."
        )
    defects = load_errata() if errata and dataset == "airqa" else {}
    wanted = set(options.get("ids") or ())
    path = files["questions"]
    found = set()
    for record in _records(path):
        found.add(record.uuid)
        if wanted and record.uuid not in wanted:
            continue
        question = _question(record, dataset, str(options.get("benchmark") or dataset), defects.get(record.uuid, ()))
        if _selected(question, options):
            yield question
    if wanted - found:
        raise DataError(f"{path}: no record with the ids {sample(wanted - found)}, which the option `ids` asks for.")


def read_m3sciqa(files: Mapping[str, Path], options: Mapping[str, Any]) -> Iterator[Question]:
    """`read` with `dataset: m3sciqa` (452 validation questions; the anchor figure is not shown, as published)."""
    return read(files, {**options, "dataset": "m3sciqa"})


def read_scidqa(files: Mapping[str, Path], options: Mapping[str, Any]) -> Iterator[Question]:
    """`read` with `dataset: scidqa` (2,937 questions; the 775 with a table, image or formula tag are a file of their own)."""
    return read(files, {**options, "dataset": "scidqa"})


def load_errata() -> dict[str, list[dict[str, Any]]]:
    """The known defects by uuid: lists of {kind, effect, where?, conference?, kwargs?}."""
    entries = yaml.safe_load(package_files("vivavoce.benchmarks").joinpath("airqa_errata.yaml").read_text("utf-8"))
    by_uuid: dict[str, list[dict[str, Any]]] = {}
    for entry in entries:
        by_uuid.setdefault(entry.pop("uuid"), []).append(entry)
    return by_uuid


def llm_free(function: str, kwargs: Mapping[str, Any]) -> bool:
    """Whether an evaluator needs no judge, its parts included."""
    if "eval_func_list" in kwargs:
        parts = zip(kwargs["eval_func_list"], kwargs["eval_kwargs_list"], strict=False)
        return all(llm_free(name, options) for name, options in parts)
    if "eval_func" in kwargs:
        return llm_free(kwargs["eval_func"], kwargs["eval_kwargs"])
    return not function.endswith("_with_llm") and function not in ("eval_m3sciqa", "eval_scidqa")


def _question(record: Record, dataset: str, benchmark: str, defects: list[dict[str, Any]] | tuple[()]) -> Question:
    venue = next((entry["conference"] for entry in defects if "conference" in entry), None)
    tags = list(dict.fromkeys(TAGS.get(tag, tag) for tag in record.tags))
    retrieval = "retrieval" in tags
    slices = [*tags]
    function, kwargs = record.evaluator.eval_func, record.evaluator.eval_kwargs
    if llm_free(function, kwargs):
        slices.append("llm_free")
    if retrieval and dataset == "airqa":
        slices.append("venue_errata" if venue else "venue_given")
    conference = venue or record.conference
    gold: dict[str, Any] = {"evaluator": {"eval_func": function, "eval_kwargs": kwargs}}
    if defects:
        gold["errata"] = list(defects)
    if dataset == "scidqa":
        gold["reference_answer"] = kwargs.get("reference_answer", "")
    return Question(
        id=record.uuid,
        benchmark=benchmark,
        task=dataset,
        text=record.question,
        answer_format=record.answer_format,
        papers=() if retrieval else tuple(record.anchor_pdf),
        slices=tuple(slices),
        cluster=record.anchor_pdf[0] if record.anchor_pdf else "",
        gold=gold,
        extra={"conference": list(conference)} if conference else {},
    )


def _selected(question: Question, options: Mapping[str, Any]) -> bool:
    venues, within = question.extra.get("conference", []), options.get("conferences")
    return set(options.get("tags") or ()) <= set(question.slices) and (
        not within or (bool(venues) and set(venues) <= set(within))
    )


def _records(path: Path) -> Iterator[Record]:
    decoder = msgspec.json.Decoder(Record)
    lines: dict[str, int] = {}
    try:
        stream = path.open("rb")
    except FileNotFoundError:
        raise DataError(f"{path}: no such file. Run the fetch step, or set VIVAVOCE_MIRROR to a mirror that has it.") from None
    with stream:
        for number, line in enumerate(stream, 1):
            if not line.strip():
                continue
            try:
                record = decoder.decode(line)
            except msgspec.MsgspecError as error:
                raise DataError(
                    f"{path}:{number}: not a record in AirQA-Real's format: {error}. Expected one JSON object a line with "
                    "uuid, question, tags, evaluator {eval_func, eval_kwargs}; see docs of the benchmark."
                ) from None
            if record.uuid in lines:
                raise DataError(
                    f"{path}:{number}: uuid {record.uuid} stands on line {lines[record.uuid]} too. Each must stand once."
                )
            lines[record.uuid] = number
            yield record
