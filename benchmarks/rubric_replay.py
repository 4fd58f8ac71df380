"""How fast recorded judge replies are graded: python benchmarks/rubric_replay.py [--mirror FOLDER]

400 answers of four systems, 2,831 recorded replies (allenai/multidoc_qa_eval@6e608607), both profiles, criteria and snippets;
through the reader, the recorded judge and the grader that the workflow uses. Prints answers and replies a second.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from pathlib import Path

from msgspec.structs import replace

from vivavoce.benchmarks.scholarqabench import read
from vivavoce.grading.rubric import grade
from vivavoce.judges.base import run_grading
from vivavoce.judges.recorded import RecordedJudge
from vivavoce.records import Judgement, Question, Rollout

DATA = "raw.githubusercontent.com/allenai/multidoc_qa_eval/6e608607927f1bf179bc45e6e9dde547cfa62510/data"
SYSTEMS = ("claude", "gpt", "nora", "perplexity")


def rollouts(folder: Path, questions: list[Question]) -> list[tuple[Question, Rollout]]:
    """The systems' answers, joined with their questions by case id."""
    pairs = []
    for system in SYSTEMS:
        lines = (folder / f"src_answers/{system}.jsonl").read_text(encoding="utf-8").splitlines()
        answers = {row["case_id"]: row["answer_text"] for row in map(json.loads, lines)}
        for question in questions:
            answer = answers[question.gold["rubrics"][0]["case_id"]]
            facts = {"question_id": question.id, "agent": "predictions", "model": system, "seed": 0, "outcome": "answered"}
            pairs.append((question, Rollout(**facts, answer=answer)))
    return pairs


async def grade_all(pairs: list[tuple[Question, Rollout]], judge: RecordedJudge) -> list[Judgement]:
    """All judgements, one answer after the other."""
    return [item for pair in pairs for item in await run_grading(grade(*pair), judge)]


def main() -> None:
    """Read, grade, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mirror", type=Path, default=Path("../shared/mirror"))
    mirror = parser.parse_args().mirror
    started = time.perf_counter()
    judge = RecordedJudge(None, {"path": str(mirror / "derived/multidoc_qa_eval/recorded_judgements.jsonl"), "on_miss": "stop"})
    questions = list(read({"questions": mirror / DATA / "jena/test_configs_snippets_gpt4o.json"}, {"task": "cs"}))
    pairs = rollouts(mirror / DATA, [replace(one, gold=one.gold | {"annotators": "first"}) for one in questions])
    loaded, busy = time.perf_counter(), time.process_time()
    judgements = asyncio.run(grade_all(pairs, judge))
    seconds, cpu = time.perf_counter() - loaded, time.process_time() - busy
    score = sum(j.value or 0 for j in judgements if j.measure == "rubric_criteria" and j.profile == "as_published") / len(pairs)
    print(f"loaded in {loaded - started:.2f} s")
    print(f"{len(pairs)} answers, 2,831 replies, {len(judgements)} judgements in {seconds:.2f} s ({cpu:.2f} s of CPU)")
    print(f"{len(pairs) / seconds:.0f} answers a second, {2831 / seconds:.0f} replies a second; mean score {score:.6f}")


if __name__ == "__main__":
    main()
