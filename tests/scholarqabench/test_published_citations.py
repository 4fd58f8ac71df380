"""The published citation script, to the last digit: small cases always, whole files where the mirror has them."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from vivavoce.benchmarks.scholarqabench import read
from vivavoce.metrics.citations import longform, published, shortform
from vivavoce.records import Passage

MICRO = json.loads((Path(__file__).parent / "micro.json").read_text(encoding="utf-8"))
NAMES = ["one", "zero", "only_if_doc0_present", "only_joint_0_and_1", "joint_only(>=2 docs)"]


def passages(count: int) -> list[Passage]:
    return [Passage(id=str(number), title=f"T{number}", text=f"DOC{number}") for number in range(count)]


@pytest.mark.parametrize("case", MICRO["strings"], ids=lambda case: case["text"])
def test_marks_claims_and_ids(case):
    assert published.marks(case["text"]) == case["extract_citations"]
    assert published.claim(case["text"]) == case["remove_citations"]
    assert published.ids(case["text"]) == case["ref_in_autoais"]


@pytest.mark.parametrize("oracle", NAMES)
@pytest.mark.parametrize("case", MICRO["items_long"], ids=lambda case: case["name"])
def test_long_form_items(case, oracle, play, oracles):
    want = case["results"][oracle]
    score = play(longform.as_published(case["output"], passages(case["ctxs"])), oracles[oracle])
    if score is None:
        assert (want["rec"], want["prec"], want["calls"]) == ([], [], 0)
        return
    assert ([score.recall], [score.precision], score.calls) == (want["rec"], want["prec"], want["calls"])
    assert published.cited(case["output"]) == want["n_cited"]


@pytest.mark.parametrize("oracle", NAMES)
@pytest.mark.parametrize("case", MICRO["items_short"], ids=lambda case: case["name"])
def test_short_form_items(case, oracle, play, oracles):
    want = case["results"][oracle]
    score = play(shortform.as_published(case["input"], case["output"], passages(4)), oracles[oracle])
    assert ([score.recall], [score.precision], score.calls) == (want["rec"], want["prec"], want["calls"])


def percent(scores, name: str) -> float:
    return float(np.mean([getattr(score, name) for score in scores])) * 100


@pytest.mark.parametrize(("oracle", "calls"), [("zero", 920), ("lex50", 1218)])
def test_multi_human_answers(oracle, calls, data, shared, play, oracles):
    golden = json.loads((shared / f"golden/scholarqabench/citation_multi_human_{oracle}.json").read_text())
    structure = json.loads((shared / "golden/scholarqabench/citation_structure.json").read_text())["multi_human"]
    questions = list(read({"questions": data / "scholarqa_multi/human_answers.json"}, {"task": "multi"}))
    answers = [question.gold["answer"] for question in questions]
    scores = [
        play(longform.as_published(answer, question.contexts), oracles[oracle])
        for question, answer in zip(questions, answers, strict=True)
    ]
    assert percent(scores, "recall") == golden["citation_rec"]
    assert percent(scores, "precision") == golden["citation_prec"]
    assert np.mean([published.words(answer) for answer in answers]) == golden["length"]
    assert np.mean([published.cited(answer) for answer in answers]) == golden["cited_paper_numbers"]
    assert sum(score.calls for score in scores) == calls
    assert fell(scores) == {key: structure[key] for key in fell(scores)}


def fell(scores) -> dict[str, int]:
    """How statements fell, by the golden file's names."""
    counts = sum((Counter(score.counts) for score in scores), Counter())
    return {
        "sentences": counts["sentences"],
        "scored": sum(score.statements for score in scores),
        "no_ref": counts["no_citation"],
        "nli_own": counts["own"],
        "nli_inherited": counts["inherited"],
        "citations_counted": sum(score.citations for score in scores),
        "truncated_to_3": counts["truncated"],
        "short_skipped": counts["short"],
        "short_skipped_with_citation": counts["short_with_citation"],
    }


@pytest.fixture(scope="module")
def sample(data: Path) -> list[tuple[str, int, int]]:
    """The 100 shipped answers of ScholarQA-CS: body, number of listed references, and 1 + the highest cited id."""
    path = next((data / "scholarqa_cs/src_answers").glob("*.jsonl"))
    rows = []
    for line in path.read_text(encoding="utf-8").splitlines():
        body, _, references = json.loads(line)["answer_text"].rpartition("\nReferences:")
        cited = [int(mark[1:-1]) for mark in published.marks(body)]
        rows.append((body, len(re.findall(r"(?m)^\[\d+\] ", references)), max(cited, default=-1) + 1))
    return rows


@pytest.mark.parametrize(("oracle", "calls"), [("one", 7840), ("zero", 5524)])
def test_cs_sample_with_original_ids(oracle, calls, sample, shared, play, oracles):
    golden = json.loads((shared / f"golden/scholarqabench/citation_cs_sample_remapped_{oracle}.json").read_text())
    structure = json.loads((shared / "golden/scholarqabench/citation_structure.json").read_text())["cs_sample_remapped"]
    scores = [play(longform.as_published(body, passages(highest)), oracles[oracle]) for body, _, highest in sample]
    assert percent(scores, "recall") == golden["citation_rec"]
    assert percent(scores, "precision") == golden["citation_prec"]
    assert np.mean([published.words(body) for body, *_ in sample]) == golden["length"]
    assert np.mean([published.cited(body) for body, *_ in sample]) == golden["cited_paper_numbers"]
    assert sum(score.calls for score in scores) == calls
    assert fell(scores) == {key: structure[key] for key in fell(scores)}


def test_cs_sample_as_shipped(sample, play, oracles):
    """The shipped file renumbers its references but not the marks in the text: 443 sentences point past the list."""
    scores = [play(longform.as_published(body, passages(listed)), oracles["one"]) for body, listed, _ in sample]
    assert percent(scores, "recall") == 90.10931507932453
    assert sum(score.calls for score in scores) == 6877
    assert sum(score.counts.get("out_of_range", 0) for score in scores) == 443


@pytest.mark.parametrize(
    ("task", "file", "value"),
    [("scifact", "scifact_test", 70.67307692307693), ("pubmedqa", "pubmed_test", 87.18861209964413)],
)
def test_short_form_files(task, file, value, data, play, oracles):
    questions = list(read({"questions": data / f"single_paper_tasks/{file}.jsonl"}, {"task": task}))
    for oracle, want in (("one", 100.0), ("lex50", value)):
        scores = [
            play(shortform.as_published(item.text, item.gold["answer"] + " [0]", item.contexts), oracles[oracle])
            for item in questions
        ]
        assert (percent(scores, "recall"), percent(scores, "precision")) == (want, want)
