"""Reading records: what becomes of fields, options, and messages for bad files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from vivavoce.benchmarks.airqa import read, read_m3sciqa
from vivavoce.errors import ConfigError, DataError
from vivavoce.records import Question


def record(uuid: str, **fields: Any) -> dict[str, Any]:
    return {
        "uuid": uuid,
        "question": "Which?",
        "answer_format": "A string.",
        "tags": ["single", "text", "figure", "image", "objective"],
        "anchor_pdf": ["p1", "p2"],
        "reference_pdf": ["hint"],
        "conference": [],
        "reasoning_steps": ["hint"],
        "evaluator": {"eval_func": "eval_string_exact_match", "eval_kwargs": {"gold": "x"}},
        "state": {},
        "annotator": "human",
        **fields,
    }


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def write(*lines: Any) -> dict[str, Path]:
        path = tmp_path / "questions.jsonl"
        path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines), "utf-8")
        return {"questions": path}

    return write


def test_a_record_becomes_a_question(write: Any) -> None:
    assert list(read(write(record("a")), {"benchmark": "specimen"})) == [
        Question(
            id="a",
            benchmark="specimen",
            task="airqa",
            text="Which?",
            answer_format="A string.",
            papers=("p1", "p2"),
            slices=("single", "text", "image", "objective", "llm_free"),
            cluster="p1",
            gold={"evaluator": {"eval_func": "eval_string_exact_match", "eval_kwargs": {"gold": "x"}}},
        )
    ]


def test_filters(write: Any) -> None:
    files = write(
        record("a"),
        "",
        record("b", tags=["retrieval", "text", "objective"], conference=["acl2023"]),
        record("c", tags=["retrieval", "text", "objective"], conference=["acl2023", "iclr2024"]),
    )

    def ids(**options: Any) -> list[str]:
        return [question.id for question in read(files, options)]

    assert ids() == ["a", "b", "c"]
    assert ids(tags=["retrieval"]) == ["b", "c"]
    assert ids(tags=["single", "llm_free"]) == ["a"]
    assert ids(conferences=["acl2023", "acl2024"]) == ["b"]
    assert ids(ids=["c", "a"]) == ["a", "c"]
    assert next(read_m3sciqa(files, {})).task == "m3sciqa"
    with pytest.raises(DataError, match="no record with the ids z"):
        ids(ids=["z"])


def test_judged_parts_are_found_at_any_depth(write: Any) -> None:
    judged = {"eval_func": "eval_reference_answer_with_llm", "eval_kwargs": {"reference_answer": "r", "question": "q"}}
    tree = {
        "eval_func": "eval_disjunction",
        "eval_kwargs": {"eval_func_list": ["eval_negation"], "eval_kwargs_list": [judged]},
    }
    (question,) = read(write(record("a", evaluator=tree)), {})
    assert "llm_free" not in question.slices


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", r"questions\.jsonl:2: not a record"),
        ('{"uuid": "b"}', r"questions\.jsonl:2: not a record.*missing required field"),
        ("[]", r":2: not a record"),
        (record("b", tags="single"), r":2: not a record.*tags"),
        (record("a"), r":2: uuid a stands on line 1 too"),
    ],
)
def test_bad_lines_are_named(write: Any, line: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        list(read(write(record("a"), line), {}))


def test_wrong_options_and_files_are_named(write: Any, tmp_path: Path) -> None:
    for options in ({"tag": ["single"]}, {"dataset": "squad"}, {"errata": "yes"}):
        with pytest.raises(ConfigError, match="Expected the options"):
            list(read(write(record("a")), options))
    with pytest.raises(DataError, match="no such file"):
        list(read({"questions": tmp_path / "none.jsonl"}, {}))
