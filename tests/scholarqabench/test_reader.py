"""Reading ScholarQABench: counts of the pinned files, normalisation, and messages for bad data."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from vivavoce.benchmarks.scholarqabench import public_id, read
from vivavoce.errors import ConfigError, DataError

FILES = {
    "scifact": ("single_paper_tasks/scifact_test.jsonl", 208),
    "pubmedqa": ("single_paper_tasks/pubmed_test.jsonl", 843),
    "cs": ("scholarqa_cs/test_configs_snippets.json", 100),
    "multi": ("scholarqa_multi/human_answers.json", 108),
    "bio": ("scholarqa_bio/scholarqabench_bio.jsonl", 1451),
    "neuro": ("scholarqa_neuro/scholarqabench_neuro.jsonl", 1308),
}


def lines(path: Path, *records: dict) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def one(tmp_path: Path, record: dict, task: str, **options):
    return next(read({"questions": lines(tmp_path / "q.jsonl", record)}, {"task": task, **options}))


@pytest.mark.parametrize("task", FILES)
def test_counts_of_the_pinned_files(task, data):
    file, count = FILES[task]
    questions = list(read({"questions": data / file}, {"task": task}))
    assert len(questions) == len({question.id for question in questions}) == count
    assert all(question.text.strip() and question.benchmark == f"scholarqabench_{task}" for question in questions)


def test_labels_and_contexts_of_the_pinned_files(data):
    scifact = list(read({"questions": data / FILES["scifact"][0]}, {"task": "scifact"}))
    pubmed = list(read({"questions": data / FILES["pubmedqa"][0]}, {"task": "pubmedqa"}))
    assert Counter(item.gold["answer"] for item in scifact) == {"true": 137, "false": 71}
    assert Counter(item.gold["answer"] for item in pubmed) == {"yes": 519, "no": 324}
    assert {len(item.contexts) for item in (*scifact, *pubmed)} == {1}
    assert len({item.text for item in scifact}) < len(scifact)  # claims stand with several papers: ids come from both
    assert sum("notes" in item.extra for item in pubmed) == 798


def test_rubric_sets_of_cs(data):
    questions = list(read({"questions": data / FILES["cs"][0]}, {"task": "cs"}))
    assert sum(len(item.gold["rubrics"]) for item in questions) == 110
    assert sum(len(item.gold["rubrics"]) == 2 for item in questions) == 10
    assert all(item.id == item.gold["rubrics"][0]["case_id"] for item in questions)


def test_no_name_of_an_annotator_is_kept(data):
    path = data / FILES["multi"][0]
    names = {record["annotator"] for record in json.loads(path.read_text(encoding="utf-8"))}
    names |= {record["id"].split("_")[0] for record in json.loads(path.read_text(encoding="utf-8"))}
    for question in read({"questions": path}, {"task": "multi"}):
        assert not any(name in f"{question.id} {question.extra} {question.slices}" for name in names)
    assert public_id("somebody_bio_1").endswith("_bio_1")
    assert public_id("somebody_bio_1") != public_id("anybody_bio_1")


def test_dict_passage_is_flattened_without_the_label(tmp_path):
    text = {"contexts": ["First.", "Second."], "labels": ["A", "B"], "meshes": [], "reasoning_required_pred": ["y", "e", "s"]}
    question = one(tmp_path, {"input": "Is it?", "answer": "yes", "gold_ctx": [{"title": "", "text": text}]}, "pubmedqa")
    assert [passage.text for passage in question.contexts] == ["First. Second."]
    assert question.extra["notes"]
    assert "reasoning" not in str(question.contexts)


def test_nan_passage_becomes_an_empty_text(tmp_path):
    path = tmp_path / "q.json"
    path.write_text(
        '[{"id": "a_bio_1", "input": "Why?", "output": "So.", "ctxs": [{"title": "T", "text": NaN}]}]', encoding="utf-8"
    )
    (question,) = read({"questions": path}, {"task": "multi"})
    assert question.contexts[0].text == ""
    assert "nan" in question.extra["notes"][0]


def test_ids_come_from_the_content(tmp_path):
    record = {"input": "A claim", "answer": "true", "gold_ctx": [{"title": "T", "text": "X"}]}
    other = {**record, "gold_ctx": [{"title": "T", "text": "Y"}]}
    path = lines(tmp_path / "q.jsonl", record, other)
    ids = [question.id for question in read({"questions": path}, {"task": "scifact"})]
    again = [question.id for question in read({"questions": lines(path, other, record)}, {"task": "scifact"})]
    assert len(set(ids)) == 2
    assert ids == again[::-1]


@pytest.mark.parametrize(("policy", "texts"), [("given", ["G", "H"]), ("gold", ["H"]), ("none", [])])
def test_context_policy(tmp_path, policy, texts):
    record = {
        "input": "Q?",
        "answer": "An answer.",
        "ctxs": [{"title": "", "text": "G"}, {"title": "", "text": "H"}],
        "gold_ctxs": [{"title": "", "text": "H"}],
    }
    assert [passage.text for passage in one(tmp_path, record, "qasa", contexts=policy).contexts] == texts


def test_agents_see_no_gold(tmp_path):
    unseen = one(
        tmp_path, {"input": "A claim", "answer": "true", "gold_ctx": [{"title": "T", "text": "X"}]}, "scifact"
    ).unseen()
    assert unseen.gold == {}
    assert unseen.contexts[0].text == "X"


@pytest.mark.parametrize("form", ["by_case", "by_record"])
def test_contexts_of_cs_come_from_their_own_file(tmp_path, form):
    case = {
        "initial_prompt": "Why?",
        "case_id": "c1",
        "annotator": "A",
        "agreement": False,
        "metric_config": {"config": {"x": 1}},
    }
    (tmp_path / "cs.json").write_text(json.dumps([case]), encoding="utf-8")
    passages = [{"title": "T", "text": "X"}]
    content = {"c1": passages} if form == "by_case" else [{"case_id": "c1", "ctxs": passages}]
    (tmp_path / "ctx.json").write_text(json.dumps(content), encoding="utf-8")
    (question,) = read({"questions": tmp_path / "cs.json", "contexts": tmp_path / "ctx.json"}, {"task": "cs"})
    assert [passage.text for passage in question.contexts] == ["X"]
    assert question.gold["rubrics"][0]["config"] == {"x": 1}


GOOD = {"input": "A claim", "answer": "true", "gold_ctx": [{"title": "T", "text": "X"}]}


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({**GOOD, "answer": "maybe"}, "answer is 'maybe'"),
        ({**GOOD, "input": " "}, "input is ' '"),
        ({**GOOD, "gold_ctx": "X"}, "passages are str"),
        ({**GOOD, "gold_ctx": [{"title": "T"}]}, "passage 0"),
        ([1], "a list; expected an object"),
    ],
)
def test_bad_records_are_named(tmp_path, record, message):
    with pytest.raises(DataError, match=r"q\.jsonl.*" + message):
        list(read({"questions": lines(tmp_path / "q.jsonl", record)}, {"task": "scifact"}))


def test_duplicates_and_broken_lines_are_named(tmp_path):
    with pytest.raises(DataError, match="stand twice"):
        list(read({"questions": lines(tmp_path / "q.jsonl", GOOD, GOOD)}, {"task": "scifact"}))
    path = tmp_path / "broken.jsonl"
    path.write_text('{"input": \n', encoding="utf-8")
    with pytest.raises(DataError, match=r"broken\.jsonl:1: not JSON"):
        list(read({"questions": path}, {"task": "scifact"}))


@pytest.mark.parametrize("options", [{}, {"task": "scidqa"}, {"task": "scifact", "contexts": "all"}])
def test_bad_options_are_named(tmp_path, options):
    with pytest.raises(ConfigError, match="expected"):
        list(read({"questions": lines(tmp_path / "q.jsonl", GOOD)}, options))
