"""The retrieval baselines and their measures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from vivavoce.agents.base import Seat
from vivavoce.agents.retrieve import Retrieve
from vivavoce.benchmarks.airqa import read
from vivavoce.config.corpus import CorpusConfig, IndexConfig
from vivavoce.corpus.base import Library
from vivavoce.corpus.ingest import ingest
from vivavoce.corpus.library import open_library
from vivavoce.errors import ConfigError
from vivavoce.grading.airqa_retrieval import grade
from vivavoce.metrics.ranking import recall_at, reciprocal_rank
from vivavoce.records import Judgement, Question, Rollout
from vivavoce.steps.models import NoModel


def test_recall_and_reciprocal_rank() -> None:
    ranking = [False, False, True, False, True]
    assert [recall_at(k, ranking) for k in (1, 2, 3, 9)] == [0, 0, 1, 1]
    assert [recall_at(k, ranking, total=2) for k in (2, 3, 5)] == [0, 0.5, 1]
    assert (reciprocal_rank(ranking), reciprocal_rank([]), reciprocal_rank([False])) == (1 / 3, 0, 0)
    with pytest.raises(ValueError, match="at least 1"):
        recall_at(0, ranking)


def question(text: str, gold: str = "Voices of Bats", conference: Sequence[str] = ()) -> Question:
    kwargs = {"question": text, "reference_answer": gold}
    evaluator = {"eval_func": "eval_paper_relevance_with_reference_answer", "eval_kwargs": kwargs}
    return Question(
        id="q", benchmark="b", task="airqa", text=text, gold={"evaluator": evaluator}, extra={"conference": list(conference)}
    )


def judged(asked: Question, rollout: Rollout) -> dict[str, float | None]:
    grading = grade(asked, rollout)
    with pytest.raises(StopIteration) as end:
        next(grading)
    judgements: list[Judgement] = end.value.value
    return {item.measure: item.value for item in judgements if item.profile == "corrected"}


@pytest.mark.parametrize("mode", ["lexical", "embedding", "hybrid"])
async def test_the_best_title_is_the_answer(library: Library, mode: str) -> None:
    asked = question("Which paper is about how bats hear?")
    rollout = await Retrieve("r", {"mode": mode}).answer(asked, Seat(model=NoModel(), corpus=library))
    assert (rollout.outcome, rollout.answer, rollout.usage.calls) == ("answered", "Voices of Bats", 0)
    assert rollout.extra["ranked_titles"][0] == "Voices of Bats"
    measures = judged(asked, rollout)
    assert [measures[name] for name in ("accuracy", "recall_5", "recall_20", "reciprocal_rank")] == [1, 1, 1, 1]


async def test_the_same_question_from_the_second_place(library: Library) -> None:
    asked = question("Which paper is about how bats hear?", gold="Rivers of Glass")
    rollout = await Retrieve("r", {"mode": "embedding"}).answer(asked, Seat(model=NoModel(), corpus=library))
    place = rollout.extra["ranked_titles"].index("Rivers of Glass") + 1
    measures = judged(asked, rollout)
    assert (measures["accuracy"], measures["recall_5"], measures["reciprocal_rank"]) == (0, 1, 1 / place)


async def test_chunks_rank_papers_once(library: Library) -> None:
    agent = Retrieve("r", {"mode": "lexical", "table": "chunks", "column": "text_content"})
    rollout = await agent.answer(question("the question of bats is old"), Seat(model=NoModel(), corpus=library))
    assert rollout.answer == "Voices of Bats"
    assert len(set(rollout.extra["ranked_papers"])) == len(rollout.extra["ranked_papers"]) > 1


async def test_only_the_venues_named(library: Library) -> None:
    asked = question("bats", conference=["acl2023"])
    seat = Seat(model=NoModel(), corpus=library)
    rollout = await Retrieve("r", {"mode": "embedding", "venues_only": True}).answer(asked, seat)
    assert rollout.extra["ranked_titles"] == ["Rivers of Glass"]
    lenient = await Retrieve("r", {"mode": "embedding"}).answer(asked, seat)
    assert len(lenient.extra["ranked_titles"]) == 3


async def test_nothing_found_is_no_answer(library: Library) -> None:
    asked = question("zzz")
    rollout = await Retrieve("r", {"mode": "lexical"}).answer(asked, Seat(model=NoModel(), corpus=library))
    assert (rollout.outcome, rollout.answer) == ("invalid", None)
    assert judged(asked, rollout)["recall_5"] == 0


def test_other_evaluators_and_answers_without_ranking_have_no_recall() -> None:
    rollout = Rollout(
        question_id="q", agent="a", model="m", seed=0, outcome="answered", answer="BART", extra={"ranked_titles": ["BART"]}
    )
    evaluator = {"eval_func": "eval_string_exact_match", "eval_kwargs": {"gold": "BART"}}
    asked = Question(id="q", benchmark="b", task="airqa", text="?", gold={"evaluator": evaluator})
    measures = judged(asked, rollout)
    assert (measures["accuracy"], measures["recall_5"]) == (1, None)
    unranked = Rollout(question_id="q", agent="a", model="m", seed=0, outcome="answered", answer="Voices of Bats")
    assert judged(question("x"), unranked)["recall_5"] is None


@pytest.mark.parametrize("options", [{"mode": "magic"}, {"depth": 0}, {"colour": "red"}])
def test_wrong_options_are_named(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=f"conf/agent/r.yaml.*{next(iter(options))}"):
        Retrieve("r", options)


async def test_a_benchmark_without_papers_is_named() -> None:
    with pytest.raises(ConfigError, match="has no corpus"):
        await Retrieve("r", {}).answer(question("x"), Seat(model=NoModel()))


async def test_bm25_on_the_published_questions(mirror: Path, tmp_path: Path) -> None:
    """53 % of 153 questions with nothing but words; docs/corpora.md has the other rows."""
    archive = mirror / "github.com/OpenDFM/NeuSym-RAG/archive/247b9215743bd1e0cbdfd7d86a3298f109b3ed1c.tar.gz"
    commit = mirror / "raw.githubusercontent.com/OpenDFM/NeuSym-RAG/596e644e8c198e53823874a5631b3a145a369c2f"
    file = commit / "data/dataset/airqa/test_data_553.jsonl"
    if not (archive.is_file() and file.is_file()):
        pytest.skip(f"no upstream data: {archive} or {file} is missing")
    index = IndexConfig(lexical=("metadata.title_abstract",), embedding=())
    ingest(CorpusConfig(name="acl", source="catalogue", index=index), {"catalogue": archive}, tmp_path / "acl")
    seat = Seat(model=NoModel(), corpus=open_library(tmp_path / "acl"))
    agent = Retrieve("r", {"mode": "lexical"})
    asked = list(read({"questions": file}, {"tags": ["retrieval"], "conferences": ["acl2023", "acl2024"]}))
    rows: dict[str, list[dict[str, float | None]]] = {"venue_given": [], "venue_errata": []}
    for item in asked:
        measures = judged(item, await agent.answer(item, seat))
        rows["venue_errata" if "venue_errata" in item.slices else "venue_given"].append(measures)
    given = rows["venue_given"]
    assert (len(given), len(rows["venue_errata"])) == (153, 10)
    assert sum(row["accuracy"] or 0 for row in given) == 81
    assert [sum(row[f"recall_{k}"] or 0 for row in given) for k in (5, 10, 20)] == [108, 120, 131]
    assert sum(row["recall_5"] is not None for row in given) == 149
    assert sum(row["accuracy"] or 0 for row in rows["venue_errata"]) == 3
