"""Every form that answers come in, and how records find their questions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from vivavoce.agents.predictions import PredictionOptions, Predictions
from vivavoce.errors import DataError
from vivavoce.records import Question, Rollout

QUESTIONS = [Question(id=str(n), benchmark="b", task="scidqa", text=f"Question {n}?") for n in (1, 2)]
RECORDS = [{"id": 1, "answer": "one"}, {"id": 2, "answer": "two"}]


def rollouts(source: Path, questions: list[Question] = QUESTIONS, **options: Any) -> list[Rollout]:
    cache = options.pop("cache", None)
    limited = options.pop("limited", False)
    chosen = PredictionOptions(**options)
    return list(Predictions.rollouts(questions, source, chosen, "label", 3, cache, limited=limited))


def answers(source: Path, questions: list[Question] = QUESTIONS, **options: Any) -> list[str | None]:
    return [rollout.answer for rollout in rollouts(source, questions, **options)]


def written(path: Path, records: Any) -> Path:
    """The records in the form that the suffix asks for."""
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), encoding="utf-8")
    elif path.suffix == ".json":
        path.write_text(json.dumps(records), encoding="utf-8")
    else:
        import pandas as pd

        frame = pd.DataFrame(records)
        if path.suffix == ".csv":
            frame.to_csv(path, index=False)
        elif path.suffix == ".parquet":
            frame.to_parquet(path)
        else:
            frame.to_excel(path)
    return path


@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".csv", ".xlsx", ".parquet"])
def test_every_kind_of_file(tmp_path: Path, suffix: str) -> None:
    found = rollouts(written(tmp_path / f"a{suffix}", RECORDS[::-1]))
    assert [(item.question_id, item.answer, item.model, item.seed, item.outcome) for item in found] == [
        ("1", "one", "label", 3, "answered"),
        ("2", "two", "label", 3, "answered"),
    ]


@pytest.mark.parametrize(
    "records",
    [
        [{"uuid": "1", "answer": "one"}, {"uuid": "2", "answer": "two"}],  # AirQA
        [{"case_id": "1", "answer_text": "one"}, {"case_id": "2", "answer_text": "two"}],  # ScholarQA-CS
        [{"input": "Question 1?", "output": "one"}, {"input": "Question 2?", "output": "two"}],  # ScholarQABench
        {"data": [{"input": "Question 1?", "output": "one"}, {"input": "Question 2?", "output": "two"}]},  # OpenScholar
        {"1": "one", "2": "two"},
    ],
)
def test_upstream_records(tmp_path: Path, records: Any) -> None:
    assert answers(written(tmp_path / "a.json", records)) == ["one", "two"]


def test_contexts_keep_their_numbers(tmp_path: Path) -> None:
    records = [
        {"id": 1, "output": "one [0]", "ctxs": [{"title": "T", "text": "t"}, {"text": float("nan")}]},
        {"id": 2, "output": "x"},
    ]
    first, second = rollouts(written(tmp_path / "a.json", records), index_base=0)
    assert [(item.title, item.text) for item in first.contexts] == [("T", "t"), ("", "")]
    assert first.notes == ("contexts_empty: 1 of 2",)
    assert first.extra["index_base"] == 0
    assert second.contexts == ()


def test_a_rubric_answers_to_either_case_id(tmp_path: Path) -> None:
    question = Question(
        id="a", benchmark="cs", task="long_form", text="Q", gold={"rubrics": [{"case_id": "a"}, {"case_id": "b"}]}
    )
    same = [{"case_id": "a", "answer_text": "x"}, {"case_id": "b", "answer_text": "x"}]
    assert answers(written(tmp_path / "a.json", same), [question]) == ["x"]


def test_questions_have_aliases(tmp_path: Path) -> None:
    question = Question(id="7", benchmark="scidqa", task="scidqa", text="Q", extra={"aliases": ["uuid-7"]})
    assert answers(written(tmp_path / "a.json", [{"uuid": "uuid-7", "answer": "x"}]), [question]) == ["x"]


def test_columns_by_name_and_pattern(tmp_path: Path) -> None:
    records = [{"key": n, "m_ans": f"[{n}]", "m_ans_single": f"clean {n}"} for n in (1, 2)]
    first, _ = rollouts(written(tmp_path / "a.xlsx", records), id="key", published="*_ans")
    assert (first.answer, first.extra) == ("clean 1", {"published_answer": "[1]"})
    with pytest.raises(DataError, match=r"no column for answer: expected nope; the file has key, m_ans"):
        rollouts(written(tmp_path / "a.json", records), id="key", answer=["nope"])


def test_strict_names_what_does_not_fit(tmp_path: Path) -> None:
    records = [{"id": 1, "answer": "one"}, {"id": 1, "answer": "uno"}, {"id": 9, "answer": "nine"}]
    source = written(tmp_path / "a.json", records)
    with pytest.raises(DataError) as error:
        rollouts(source)
    for part in ("1 question(s) without an answer (2)", "1 answer(s) of no question (9)", "answered more than once (1)"):
        assert part in str(error.value)
    first, second = rollouts(source, missing="report")
    assert first.answer == "one"
    assert first.notes == ("file: 1 answer(s) of no question, such as 9", "duplicate: 2 answers, the first is taken")
    assert (second.outcome, second.notes) == ("error", ("missing",))


def test_a_limited_run_expects_other_answers(tmp_path: Path) -> None:
    source = written(tmp_path / "a.json", RECORDS)
    assert answers(source, QUESTIONS[:1], limited=True) == ["one"]
    with pytest.raises(DataError, match="1 answer"):
        rollouts(source, QUESTIONS[:1])


def test_questions_that_share_a_text_need_ids(tmp_path: Path) -> None:
    twins = [Question(id=str(n), benchmark="b", task="t", text="Same?") for n in (1, 2)]
    with pytest.raises(DataError, match="2 questions share theirs: 1, 2"):
        rollouts(written(tmp_path / "a.json", [{"input": "Same?", "output": "x"}]), twins)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jsonl", b'{"id": 1, "answer": "x"}\n{"id": 2,\n', r"a\.jsonl:2: not valid JSON"),
        ("a.jsonl", b"[1]\n", r"a\.jsonl:1: expected an object"),
        ("a.json", b'"x"', "expected a JSON list"),
        ("a.json", b"\xff\xfe", "not UTF-8"),
        ("a.csv", b"id,answer\n1\n", "not readable as CSV"),
        ("a.parquet", b"x", "not readable as Parquet"),
        ("a.xlsx", b"x", r"not a readable \.xlsx"),
        ("a.txt", b"x", "unknown kind of file"),
        ("a.json", b'[{"a": 1}]', "no column joins with the questions. It has a"),
        ("a.json", b'[{"id": 77, "answer": "x"}]', "no column joins"),
    ],
)
def test_bad_files_are_named(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DataError, match=message):
        rollouts(path)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        rollouts(tmp_path / "a.json")


def reply(text: str) -> dict[str, str]:
    return {"role": "assistant", "content": text}


SEEN = {"role": "user", "content": "[Observation]: 3 rows"}
START = [{"role": "system", "content": "s"}, {"role": "user", "content": "q"}]


def test_trajectories_of_a_folder(tmp_path: Path) -> None:
    search = reply("[Thought]: look\n[Action]:\nRetrieveFromDatabase(sql='SELECT 1')")
    final = reply("[Thought]: done\n[Action]:\nGenerateAnswer(answer='one')")
    written(tmp_path / "1.jsonl", [*START, search, SEEN, final, SEEN])
    written(tmp_path / "2.jsonl", [*START, search, SEEN])
    first, second = rollouts(tmp_path)
    assert [turn.action for turn in first.turns] == ["RetrieveFromDatabase", "GenerateAnswer"]
    assert first.turns[0].arguments == {"sql": "SELECT 1"}
    assert (first.answer, first.extra["published_turns"], first.notes) == ("one", 2, ())
    assert (second.outcome, second.answer, second.extra["last_observation"]) == ("limit", None, SEEN["content"])


def test_trajectories_of_one_file(tmp_path: Path) -> None:
    final = reply("[Action]: GenerateAnswer(answer=['a', 'b'])")
    lines = [{"uuid": str(n), "messages": [*START, final]} for n in (1, 2)]
    first, _ = rollouts(written(tmp_path / "t.jsonl", lines))
    assert first.answer == "['a', 'b']"
    assert first.notes == ("turns: 1 replies, 0 by upstream's count",)
