"""The fast way of grading without a judge writes the very lines of the slow one."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from vivavoce.errors import DataError
from vivavoce.files import write_records
from vivavoce.grading import airqa, scidqa
from vivavoce.judges.constant import ConstantJudge
from vivavoce.records import Question, Rollout
from vivavoce.steps.judge import judge_all
from vivavoce.steps.pool import OrderedLines
from vivavoce.steps.unjudged import can_grade_alone, grade_alone


def files(folder: Path, ids: str = "abc") -> tuple[Path, Path]:
    questions, rollouts = folder / "questions.jsonl", folder / "rollouts.jsonl"
    gold = {"released": "A: It uses a graph.", "embedded": "A: It uses a tree."}
    write_records(questions, [Question(id=i, benchmark="scidqa", task="scidqa", text="What?", gold=gold) for i in "abc"])
    write_records(
        rollouts,
        [
            Rollout(question_id=i, agent="predictions", model="m", seed=0, outcome="answered", answer=f"It uses a graph {n}")
            for n, i in enumerate(ids)
        ],
    )
    return questions, rollouts


def written(out: OrderedLines, path: Path) -> bytes:
    out.write(path)
    return path.read_bytes()


@pytest.mark.parametrize("only", [(), ("rouge1_f1", "answer_tokens")])
def test_the_same_lines_and_counts(tmp_path: Path, only: tuple[str, ...]) -> None:
    questions, rollouts = files(tmp_path)
    fast, slow = OrderedLines(), OrderedLines()
    alone = grade_alone(questions, rollouts, scidqa, fast, only=only)
    none = ConstantJudge(options={"say": "no"}, name="none")
    asked = asyncio.run(judge_all(questions, rollouts, scidqa, none, slow, only=only, concurrency=2, label="x"))
    assert written(fast, tmp_path / "fast") == written(slow, tmp_path / "slow") != b""
    assert (alone.judgements, alone.unscored, alone.means()) == (asked.judgements, asked.unscored, asked.means())


@pytest.mark.parametrize(("ids", "problem"), [("aba", "twice: a"), ("abz", "of no question: z")])
def test_rollouts_that_do_not_fit_are_named(tmp_path: Path, ids: str, problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        grade_alone(*files(tmp_path, ids), scidqa, OrderedLines())


def test_only_without_a_judge_and_only_graders_that_can() -> None:
    assert can_grade_alone(scidqa, "none")
    assert not can_grade_alone(scidqa, "lexical")
    assert not can_grade_alone(airqa, "none")
