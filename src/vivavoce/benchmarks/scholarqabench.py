"""ScholarQABench: SciFact, PubMedQA, QASA, ScholarQA-CS, -Multi, -Bio and -Neuro as questions.

Source: AkariAsai/ScholarQABench@95e6fc52 `data/`; the format of each file stands in docs/divergences.md.
A YAML file names `read: vivavoce.benchmarks.scholarqabench:read` with

    options: {task: scifact | pubmedqa | qasa | cs | multi | bio | neuro, contexts: given | gold | none}

and the asset key `questions` (for `cs` also, if there are any, `contexts`). What is normalised on load: dict passages are
flattened without the label that they leak, NaN passages become empty texts, records without an id get one from their
content, annotators' names are hashed. What had to be repaired is listed in `Question.extra["notes"]`.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from vivavoce.errors import ConfigError, DataError
from vivavoce.files import sample
from vivavoce.records import Passage, Question

Record = dict[str, Any]
TASKS = ("scifact", "pubmedqa", "qasa", "cs", "multi", "bio", "neuro")
LABELS = {"scifact": ("true", "false"), "pubmedqa": ("yes", "no")}
_SHAPE = {"scifact": "claim", "pubmedqa": "boolean", "qasa": "short_form"}
_FORMAT = {
    "scifact": 'One word, "true" or "false", followed by the numbers of the supporting passages, such as: true [0]',
    "pubmedqa": 'One word, "yes" or "no", followed by the numbers of the supporting passages, such as: yes [0]',
    "qasa": "A paragraph that cites passages by number, such as [0].",
}
_LONG = "Several paragraphs; every statement cites the passages that support it by number, such as [0] or [1][2]."


def read(files: Mapping[str, Path], options: Mapping[str, Any]) -> Iterator[Question]:
    """Yield the questions of one task in the order of its file.

    Options: `task` (required); `contexts`: `given` (the default: the record's `ctxs`, or its gold passages where it has
    none), `gold` (gold passages only) or `none`. Passage numbers start at 0 (`extra["index_base"]`).
    Raises ConfigError for an unknown option value and DataError, with file and record, for malformed data.
    """
    task, policy = options.get("task"), options.get("contexts", "given")
    if task not in TASKS:
        raise ConfigError(f"scholarqabench: option task is {task!r}; expected one of {', '.join(TASKS)}.")
    if policy not in ("given", "gold", "none"):
        raise ConfigError(f"scholarqabench: option contexts is {policy!r}; expected given, gold or none.")
    path = files["questions"]
    records = list(_records(path))
    if task == "cs":
        questions = list(_cs(records, path, files.get("contexts")))
    else:
        questions = [_question(task, record, f"{path}: record {number}") for number, record in enumerate(records)]
    yield from (_shown(question, policy) for question in _distinct(questions, path))


def public_id(identity: str) -> str:
    """An upstream id of ScholarQA-Multi with the annotator's first name in it hashed: `name_bio_1` -> `3f2a91c0_bio_1`."""
    name, _, rest = identity.partition("_")
    return f"{_short(name)}_{rest}" if rest else identity


def _question(task: str, record: Record, where: str) -> Question:
    text = _text(record, "input", where)
    notes: list[str] = []
    given = _passages(record.get("ctxs"), where, notes)
    gold = _passages(record.get("gold_ctx") or record.get("gold_ctxs"), where, notes)
    extra: Record = {"index_base": 0}
    answers: Record = {"gold_contexts": [_plain(passage) for passage in gold]} if gold else {}
    if task in LABELS:
        answer = _text(record, "answer", where)
        if answer not in LABELS[task]:
            raise DataError(f"{where}: answer is {answer!r}; expected one of {', '.join(LABELS[task])}.")
        answers |= {"answer": answer, "labels": list(LABELS[task])}
    elif task == "qasa":
        answers["answer"] = _text(record, "answer", where)
    elif task == "multi":
        answers["answer"] = _text(record, "output", where)
        extra |= {"subject": str(record.get("subject", ""))}
    if notes:
        extra["notes"] = notes
    return Question(
        id=_identity(task, record, text),
        benchmark=f"scholarqabench_{task}",
        task=_SHAPE.get(task, "long_form"),
        text=text,
        answer_format=_FORMAT.get(task, _LONG),
        contexts=given or gold,
        slices=(extra["subject"],) if extra.get("subject") else (),
        cluster=_cluster(task, record, gold),
        gold=answers,
        extra=extra,
    )


def _cs(records: list[Record], path: Path, contexts: Path | None) -> Iterator[Question]:
    """One question a prompt; its rubric sets (two where two experts annotated it) stand in `gold["rubrics"]`, in file order."""
    shown = _cs_contexts(contexts) if contexts is not None else {}
    sets: dict[str, list[Record]] = {}
    for number, record in enumerate(records):
        where = f"{path}: record {number}"
        try:
            config = record["metric_config"]["config"]
            rubric = {
                "case_id": record["case_id"],
                "annotator": record.get("annotator", ""),
                "agreement": bool(record.get("agreement", False)),
                "config": config,
            }
        except (KeyError, TypeError) as error:
            raise DataError(f"{where}: no {error} in it. Expected case_id and metric_config.config.") from None
        sets.setdefault(_text(record, "initial_prompt", where), []).append(rubric)
    for text, rubrics in sets.items():
        identity = rubrics[0]["case_id"]
        notes: list[str] = []
        found = next((shown[key] for key in (*(r["case_id"] for r in rubrics), text) if key in shown), None)
        extra: Record = {"index_base": 0}
        passages = _passages(found, f"{contexts}: {identity}", notes)
        if notes:
            extra["notes"] = notes
        yield Question(
            id=identity,
            benchmark="scholarqabench_cs",
            task="long_form",
            text=text,
            answer_format=_LONG,
            contexts=passages,
            gold={"rubrics": rubrics},
            extra=extra,
        )


def _cs_contexts(path: Path) -> dict[str, Any]:
    """`{case_id or question: [passage, ...]}`, or a list of records with `case_id` or `input` and `ctxs`."""
    value = _json(path)
    if isinstance(value, dict) and not isinstance(value.get("data"), list):
        return value
    records = value["data"] if isinstance(value, dict) else value
    return {str(record.get("case_id") or record.get("input")): record.get("ctxs") for record in records}


def _passages(value: Any, where: str, notes: list[str]) -> tuple[Passage, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        raise DataError(f"{where}: passages are {type(value).__name__}; expected a list of objects with title and text.")
    passages = []
    for number, item in enumerate(value):
        if not isinstance(item, dict) or "text" not in item:
            raise DataError(f"{where}: passage {number} is not an object with a text; expected {{title, text}}.")
        text = _clean(item["text"], f"passage {number}", notes)
        title = _clean(item.get("title"), f"title of passage {number}", notes) if item.get("title") is not None else ""
        passages.append(Passage(id=f"p{_short(title + chr(0) + text)}", title=title, text=text, paper=_paper(item)))
    return tuple(passages)


def _clean(value: Any, what: str, notes: list[str]) -> str:
    """PubMedQA's passages are objects whose `reasoning_*_pred` spell the gold label: only the sentences are kept."""
    if isinstance(value, dict):
        notes.append(f"{what} was an object: only its contexts are kept")
        return " ".join(str(part) for part in value.get("contexts", ()))
    if value is None or (isinstance(value, float) and math.isnan(value)):
        notes.append(f"{what} was {value}: it is empty now")
        return ""
    return str(value)


def _paper(item: Record) -> str:
    value = item.get("paperId") or item.get("semantic_scholar_id") or item.get("url") or ""
    return value if isinstance(value, str) else str(value)


def _identity(task: str, record: Record, text: str) -> str:
    if isinstance(record.get("id"), str | int) and str(record["id"]):
        return public_id(str(record["id"])) if task == "multi" else str(record["id"])
    content = {"input": text, "contexts": record.get("gold_ctx") or record.get("gold_ctxs") or record.get("ctxs")}
    return f"{task}_{_short(json.dumps(content, sort_keys=True, ensure_ascii=False))}"


def _cluster(task: str, record: Record, gold: tuple[Passage, ...]) -> str:
    """Bio and Neuro questions cluster by the paper that inspired them; single-paper ones by their passage."""
    if task in ("bio", "neuro"):
        paper = record.get("inspiring_paper")
        return paper.partition("?")[0] if isinstance(paper, str) else ""
    return gold[0].id if gold else ""


def _shown(question: Question, policy: str) -> Question:
    if policy == "none":
        return replace(question, contexts=())
    if policy == "gold" and "gold_contexts" in question.gold:
        return replace(question, contexts=tuple(Passage(**item) for item in question.gold["gold_contexts"]))
    return question


def _plain(passage: Passage) -> Record:
    return {"id": passage.id, "title": passage.title, "text": passage.text, "paper": passage.paper}


def _distinct(questions: list[Question], path: Path) -> list[Question]:
    seen: dict[str, Question] = {}
    twice = [question.id for question in questions if seen.setdefault(question.id, question) is not question]
    if twice:
        raise DataError(f"{path}: {len(twice)} record(s) stand twice: {sample(twice)}. Each question must stand once.")
    return questions


def _text(record: Record, key: str, where: str) -> str:
    value = record.get(key)
    if not isinstance(value, str) or not value.strip():
        raise DataError(f"{where}: {key} is {value!r}; expected a text.")
    return value


def _short(text: str) -> str:
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()[:10]


def _records(path: Path) -> Iterator[Record]:
    """The records of a JSONL file, or of a JSON list (also under a key `data`)."""
    if path.suffix == ".jsonl":
        with path.open(encoding="utf-8") as stream:
            for number, line in enumerate(stream, 1):
                if line.strip():
                    yield _object(_parse(line, f"{path}:{number}"), f"{path}:{number}")
        return
    value = _json(path)
    if isinstance(value, dict):
        value = value.get("data")
    if not isinstance(value, list):
        raise DataError(f"{path}: expected a list of records, or an object with the key data.")
    yield from (_object(item, f"{path}: record {number}") for number, item in enumerate(value))


def _object(value: Any, where: str) -> Record:
    if not isinstance(value, dict):
        raise DataError(f"{where}: a {type(value).__name__}; expected an object.")
    return value


def _json(path: Path) -> Any:
    return _parse(path.read_text(encoding="utf-8"), str(path))


def _parse(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise DataError(f"{where}: not JSON: {error}. Fetch the file again.") from None
