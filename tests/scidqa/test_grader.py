"""The grader on small cases: failures, both judge calls, and what each profile makes of a reply."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vivavoce.benchmarks.scidqa import read
from vivavoce.errors import ConfigError, DataError
from vivavoce.grading.scidqa import MEASURES, grade, grade_all
from vivavoce.grading.scidqa_texts import as_pandas
from vivavoce.judges.base import run_grading
from vivavoce.judges.lexical import LexicalJudge
from vivavoce.records import Judgement, JudgeReply, JudgeRequest, Outcome, Question, Rollout

MARKS = {"relevance": 9, "accuracy": 7, "completeness": 5, "conciseness": 8, "overall": 9.5}


def question(released: str = "A: It uses a graph.", embedded: str = "A: It uses a tree.") -> Question:
    return Question(id="7", benchmark="scidqa", task="scidqa", text="What?", gold={"released": released, "embedded": embedded})


def rollout(answer: str | None = "It uses a graph", outcome: Outcome = "answered", **fields: Any) -> Rollout:
    return Rollout(question_id="7", agent="predictions", model="m", seed=0, outcome=outcome, answer=answer, **fields)


class Scripted:
    """A judge that replies by task and counts."""

    name = "scripted"

    def __init__(self, graded: JudgeReply, overall: str = "9.5") -> None:
        self.replies = {"scidqa_grade": graded, "scidqa_overall": JudgeReply(text=overall)}
        self.asked: list[JudgeRequest] = []

    async def ask(self, request: JudgeRequest) -> JudgeReply:
        self.asked.append(request)
        return self.replies[request.task]


def judged(judge: Any, done: Rollout, asks: bool = True) -> dict[tuple[str, str], Judgement]:
    items = asyncio.run(run_grading(grade(question(), done, asks=asks), judge))
    assert len({(item.profile, item.measure) for item in items}) == len(items)
    return {(item.profile, item.measure): item for item in items}


def lexical(done: Rollout) -> Callable[[str, str], float | None]:
    items = {(item.profile, item.measure): item for item in grade_all({"7": question()}, [done])}
    return lambda profile, measure: items[profile, measure].value


def test_profiles_use_their_own_gold() -> None:
    value = lexical(rollout())
    assert value("as_published", "rouge1_precision") == 0.75  # "a" is in the gold twice, "graph" is not
    assert value("as_published", "rouge1_recall") == 0.6
    assert value("corrected", "rouge1_f1") == 1.0


def test_published_text_of_another_column_is_scored_as_published_only() -> None:
    value = lexical(rollout(extra={"published_answer": "[]"}))
    assert value("as_published", "rouge1_precision") == 0.0
    assert value("as_published", "answer_tokens") == 0
    assert value("corrected", "rouge1_f1") == 1.0


@pytest.mark.parametrize(
    ("cell", "text"), [(None, "nan"), ("NA", "nan"), ("None", "nan"), (" NA ", "NA"), (3, "3"), ([], "[]")]
)
def test_cells_as_pandas_reads_them(cell: Any, text: str) -> None:
    assert as_pandas(cell) == text


def test_an_empty_cell_is_the_word_nan_as_published() -> None:
    gold = question(embedded="A: nan values are dropped")
    done = rollout(None, "invalid", extra={"published_answer": None})
    items = {(item.profile, item.measure): item for item in grade_all({"7": gold}, [done])}
    assert items["as_published", "rouge1_precision"].value == 1.0
    assert items["corrected", "rouge1_precision"].value == 0.0
    assert {item.outcome for item in items.values()} == {"invalid"}


def test_row_join_is_measured_only_when_it_was_asked_for() -> None:
    assert all(not item.measure.endswith("_by_row") for item in grade_all({"7": question()}, [rollout()]))
    value = lexical(rollout(extra={"row_join": True, "row_answer": "Nothing of the sort"}))
    assert value("as_published", "rouge1_precision_by_row") == 0.0


def test_unicode_stands_beside_ascii() -> None:
    gold, done = question(released="A: 模型使用图结构"), rollout("模型使用图结构")
    items = {(item.profile, item.measure): item.value for item in grade_all({"7": gold}, [done])}
    assert items["corrected", "rougeL_f1"] == 0.0
    assert items["corrected", "rougeL_unicode_f1"] == 1.0


def test_grade_and_grade_all_agree_and_only_selects() -> None:
    fast = list(grade_all({"7": question()}, [rollout()]))
    assert list(judged(Scripted(JudgeReply(text="")), rollout(), asks=False).values()) == fast
    assert {item.measure for item in grade_all({"7": question()}, [rollout()], only={"rouge1_f1"})} == {"rouge1_f1"}
    assert {item.measure for item in fast} <= {spec.name for spec in MEASURES}
    with pytest.raises(DataError, match="no question: 7"):
        list(grade_all({}, [rollout()]))


def test_marks_by_both_profiles_from_the_same_replies() -> None:
    judge = Scripted(JudgeReply(text="good", verdict=MARKS), "9.456")
    items = judged(judge, rollout())
    assert items["as_published", "judge_overall"].value == 9.46
    assert items["corrected", "judge_overall"].value == 7.25  # the mean of four marks, not what the judge says
    assert items["corrected", "judge_accuracy"].value == 7.0
    assert [request.task for request in judge.asked] == ["scidqa_grade", "scidqa_overall"]
    assert judge.asked[0].fields["reference"] == "It uses a graph."
    assert judge.asked[1].fields["evaluation"] == "good"


@pytest.mark.parametrize("text", ["Overall: 9", "nine", "nan", "9/10"])
def test_what_is_no_number_is_zero_as_published(text: str) -> None:
    item = judged(Scripted(JudgeReply(text="good", verdict=MARKS), text), rollout())["as_published", "judge_overall"]
    assert (item.value, item.status) == (0.0, "scored")
    assert "not a number" in item.reason


def test_a_silent_judge_leaves_both_unscored_and_an_unclear_one_only_corrected() -> None:
    silent = judged(Scripted(JudgeReply(text="", error="judge down")), rollout())
    assert all(item.status == "unscored" for key, item in silent.items() if key[1].startswith("judge"))
    unclear = judged(Scripted(JudgeReply(text="It is fine.", error="no JSON"), "8"), rollout())
    assert unclear["as_published", "judge_overall"].value == 8.0
    assert unclear["corrected", "judge_overall"].status == "unscored"


def test_failures_ask_nobody_and_score_zero() -> None:
    judge = Scripted(JudgeReply(text="good", verdict=MARKS))
    items = judged(judge, rollout(None, "refused", reason="SKIPPED", extra={"published_answer": "SKIPPED"}))
    assert not judge.asked
    assert items["as_published", "judge_overall"].value == items["corrected", "judge_relevance"].value == 0.0


def test_the_lexical_judge_can_be_read_by_both_rules() -> None:
    items = judged(LexicalJudge(), rollout())
    assert items["as_published", "judge_overall"].value == items["corrected", "judge_overall"].value == 10.0


def test_questions_in_neusym_form_alone(root: Path) -> None:
    questions = list(read({"neusym": root / "specimen/questions/scidqa.jsonl"}, {"subset": "all"}))
    assert questions
    assert all(len(q.id) == 36 and q.gold["released"] for q in questions)
    tagged = list(read({"neusym": root / "specimen/questions/scidqa.jsonl"}, {"subset": "tagged"}))
    assert {"subset775"} <= {name for q in tagged for name in q.slices} or not tagged


def test_bad_input_is_named(tmp_path: Path) -> None:
    broken = tmp_path / "q.jsonl"
    broken.write_text('{"uuid": "u", "question": "q"}\n')
    with pytest.raises(DataError, match=r"q\.jsonl:1: not a SciDQA record"):
        list(read({"neusym": broken}, {}))
    with pytest.raises(ConfigError, match="subset"):
        list(read({"neusym": broken}, {"subset": "half"}))
    with pytest.raises(ConfigError, match="neither"):
        list(read({}, {}))
