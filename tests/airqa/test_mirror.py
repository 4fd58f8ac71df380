"""AirQA-Real as published: the counts of the data, and golds given as predictions in many spellings."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vivavoce.benchmarks.airqa import load_errata, read, read_m3sciqa, read_scidqa
from vivavoce.grading.airqa import with_errata
from vivavoce.metrics.airqa.logic import JUDGED, Scoring, needs_judge, score_corrected, score_published
from vivavoce.records import JudgeReply, Question

DATA = Path("raw.githubusercontent.com/OpenDFM/NeuSym-RAG/596e644e8c198e53823874a5631b3a145a369c2f/data/dataset")


@pytest.fixture(scope="module")
def data(mirror: Path) -> Path:
    if not (mirror / DATA).is_dir():
        pytest.skip(f"no AirQA data in the mirror {mirror}")
    return mirror / DATA


@pytest.fixture(scope="module")
def questions(data: Path) -> list[Question]:
    return list(read({"questions": data / "airqa" / "test_data_553.jsonl"}, {}))


@pytest.fixture(scope="module")
def free(questions: list[Question]) -> list[Question]:
    return [question for question in questions if "llm_free" in question.slices]


def test_counts_by_slice(questions: list[Question], free: list[Question]) -> None:
    counts = Counter(name for question in questions for name in question.slices)
    assert len(questions) == 553
    assert counts == {
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
        "llm_free": 445,
        "venue_given": 234,
        "venue_errata": 10,
    }
    judge_free = Counter(name for question in free for name in question.slices)
    assert [
        judge_free[name] for name in ("single", "multiple", "retrieval", "text", "table", "image", "formula", "metadata")
    ] == [
        105,
        96,
        244,
        383,
        85,
        33,
        1,
        22,
    ]
    assert all(("llm_free" in q.slices) is not needs_judge(q.gold["evaluator"]) for q in questions)


def test_nothing_that_hints_at_the_gold_reaches_an_agent(questions: list[Question]) -> None:
    for question in questions:
        assert set(question.unseen().extra) <= {"conference"}
        assert not question.unseen().gold
        assert not ("retrieval" in question.slices and question.papers)
        assert question.cluster == (question.papers[0] if question.papers else "")


@pytest.mark.parametrize(("errata", "titles", "total"), [(False, 149, 153), (True, 159, 163)])
def test_retrieval_on_acl(data: Path, errata: bool, titles: int, total: int) -> None:
    options = {"tags": ["retrieval"], "conferences": ["acl2023", "acl2024"], "errata": errata}
    found = list(read({"questions": data / "airqa" / "test_data_553.jsonl"}, options))
    functions = Counter(question.gold["evaluator"]["eval_func"] for question in found)
    assert len(found) == total
    assert functions["eval_paper_relevance_with_reference_answer"] == titles
    assert total - titles == 4
    assert sum("venue_given" in question.slices for question in found) == 153
    assert sum("venue_errata" in question.slices for question in found) == total - 153


def test_converted_sets(data: Path) -> None:
    def counts(reader: Callable[..., Any], name: str) -> dict[str, int]:
        found = list(reader({"questions": data / name}, {}))
        return {"all": len(found), **Counter(tag for question in found for tag in question.slices)}

    m3sciqa = counts(read_m3sciqa, "m3sciqa/test_data.jsonl")
    assert (m3sciqa["all"], m3sciqa["table"], m3sciqa["image"], m3sciqa.get("llm_free", 0)) == (452, 310, 142, 0)
    part = counts(read_scidqa, "scidqa/test_data_775.jsonl")
    assert (part["all"], part["table"], part["image"], part["formula"]) == (775, 292, 429, 152)
    assert counts(read_scidqa, "scidqa/test_data.jsonl")["all"] == 2937
    assert counts(read, "airqa/test_data_ablation.jsonl")["llm_free"] == 65


def test_errata_equal_the_executed_list(shared: Path, questions: list[Question]) -> None:
    known = json.loads((shared / "golden" / "airqa" / "errata.json").read_text("utf-8"))
    ours = load_errata()
    assert Counter((item["uuid"], item["kind"]) for item in known) == Counter(
        (uuid, entry["kind"]) for uuid, entries in ours.items() for entry in entries
    )
    assert set(ours) <= {question.id for question in questions}


def _gold(evaluator: dict[str, Any]) -> Any:
    """A right answer, from the evaluator itself."""
    function, kwargs = evaluator["eval_func"], evaluator["eval_kwargs"]
    if function == "eval_conjunction":
        parts = zip(kwargs["eval_func_list"], kwargs["eval_kwargs_list"], strict=True)
        return [_gold({"eval_func": name, "eval_kwargs": options}) for name, options in parts]
    if function in JUDGED:
        return "an answer"
    gold = kwargs["gold"] if "gold" in kwargs else kwargs["reference_answer"]
    return gold[0] if function == "eval_element_included" else gold


def _score(scoring: Scoring, reply: JudgeReply | None = None) -> float:
    try:
        next(scoring)
        while True:
            assert reply is not None
            scoring.send(reply)
    except StopIteration as end:
        return float(end.value)


SPELLINGS: dict[str, tuple[Callable[[Any], Any], int]] = {  # how the gold is given, and what upstream gives for all 445
    "object": (lambda gold: gold, 444),
    "str": (str, 444),
    "json": (lambda gold: json.dumps(gold, ensure_ascii=False), 402),
    "json_ascii": (json.dumps, 401),
    "fenced_json": (lambda gold: f"```json\n{json.dumps(gold)}\n```", 8),
    "fenced_python": (lambda gold: f"```python\n{gold!r}\n```", 4),
    "quoted": (lambda gold: f'"{gold}"', 245),
    "final_stop": (lambda gold: f"{gold}.", 245),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_gold_as_prediction(free: list[Question], spelling: str) -> None:
    write, published = SPELLINGS[spelling]
    answers = [write(_gold(question.gold["evaluator"])) for question in free]
    pairs = list(zip(free, answers, strict=True))
    assert sum(_score(score_published(q.gold["evaluator"], answer)) for q, answer in pairs) == published
    assert [q.id for q, answer in pairs if not _score(score_corrected(with_errata(q.gold), answer))] == []


def test_answers_that_say_nothing(free: list[Question]) -> None:
    def both(answer: str) -> tuple[float, float]:
        return (
            sum(_score(score_published(question.gold["evaluator"], answer)) for question in free),
            sum(_score(score_corrected(with_errata(question.gold), answer)) for question in free),
        )

    assert both("[]") == (3, 0)
    assert both("true or false") == (0, 0)
    assert both("{}") == (0, 0)
    assert both("x") == (1, 0)


def test_a_judge_that_always_agrees(questions: list[Question]) -> None:
    reply = JudgeReply(text="```txt\nTrue\n```", verdict=True)
    judged = [question for question in questions if "llm_free" not in question.slices]
    answers = [str(_gold(question.gold["evaluator"])) for question in judged]
    pairs = list(zip(judged, answers, strict=True))
    assert len(judged) == 108
    assert sum(_score(score_published(q.gold["evaluator"], answer), reply) for q, answer in pairs) == 107
    assert sum(_score(score_corrected(with_errata(q.gold), answer), reply) for q, answer in pairs) == 108
    bare = JudgeReply(text="True", verdict=True)
    assert sum(_score(score_published(q.gold["evaluator"], answer), bare) for q, answer in pairs) == 0
