"""SciFact, PubMedQA, QASA, ScholarQA-CS and -Multi shaped files: format, and passages that really stand in the papers."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

Records = dict[str, list[dict[str, Any]]]


def joined(text: Any) -> str:
    return " ".join(text["contexts"]) if isinstance(text, dict) else text


@pytest.fixture(scope="module")
def prose(raw_sources: dict[str, str]) -> str:
    """All sources with emphasis removed, citations unresolved and blanks collapsed."""
    text = " ".join(" ".join(re.sub(r"\*\*?(.+?)\*\*?", r"\1", source).split()) for source in raw_sources.values())
    return re.sub(r" ?\[[^\]]*\]", "", text)


def stands(passage: str, prose: str) -> bool:
    return re.sub(r" ?\[\d[\d, ]*\]", "", " ".join(passage.split())) in prose


def test_scifact(questions: Records, prose: str) -> None:
    records = questions["scifact"]
    assert Counter(record["answer"] for record in records) == {"true": 8, "false": 4}
    for record in records:
        assert set(record) == {"input", "answer", "gold_ctx", "ctxs"}
        assert len(record["gold_ctx"]) == 1 and len(record["ctxs"]) == 5
        assert record["ctxs"].count(record["gold_ctx"][0]) == 1
        assert all(set(ctx) == {"title", "text"} and ctx["title"] and stands(ctx["text"], prose) for ctx in record["ctxs"])
        assert sum(ctx["title"] == record["gold_ctx"][0]["title"] for ctx in record["ctxs"]) == 1
    assert len({record["ctxs"].index(record["gold_ctx"][0]) for record in records}) > 2


def test_pubmedqa(questions: Records, prose: str) -> None:
    records = questions["pubmedqa"]
    assert Counter(record["answer"] for record in records) == {"yes": 7, "no": 5}
    assert Counter(type(record["gold_ctx"][0]["text"]) for record in records) == {dict: 9, str: 3}
    for record in records:
        assert set(record) == {"input", "answer", "gold_ctx", "ctxs"} and record["input"].endswith("?")
        (gold,) = record["gold_ctx"]
        assert gold["title"] == ""
        if isinstance(gold["text"], dict):
            assert set(gold["text"]) == {"contexts", "labels", "meshes", "reasoning_required_pred", "reasoning_free_pred"}
            assert len(gold["text"]["contexts"]) == len(gold["text"]["labels"])
            assert "".join(gold["text"]["reasoning_required_pred"]) == record["answer"]
        texts = [ctx["text"] for ctx in record["ctxs"]]
        assert len(texts) == len(set(texts)) == 5 and texts.count(joined(gold["text"])) == 1
        assert all(stands(text, prose) or text == joined(gold["text"]) for text in texts)


def test_qasa(questions: Records, prose: str) -> None:
    for record in questions["qasa"]:
        assert set(record) == {"input", "answer", "ctxs", "gold_ctxs"}
        assert len(record["ctxs"]) >= 15 and record["gold_ctxs"] and all(ctx in record["ctxs"] for ctx in record["gold_ctxs"])
        assert len(record["answer"].split()) >= 35
        for number in re.findall(r"\d[\d,]*\.\d+|\d{2,}", record["answer"]):
            assert number in " ".join(ctx["text"] for ctx in record["gold_ctxs"]), number
        assert all(stands(ctx["text"], prose) for ctx in record["ctxs"])


def test_cs_rubrics(questions: Records, specimen: Path, prose: str) -> None:
    configs = questions["cs"]
    contexts = json.loads((specimen / "questions" / "cs_contexts.json").read_text(encoding="utf-8"))
    assert len({c["initial_prompt"] for c in configs}) == 4
    assert set(contexts) == {c["case_id"] for c in configs} and len(contexts) == 5
    for number, case in enumerate(configs, 1):
        assert set(case) == {"initial_prompt", "metric_config", "case_id", "annotator", "agreement"}
        assert case["case_id"] == hashlib.md5(str((case["initial_prompt"], f"specimen-{number}")).encode()).hexdigest()
        assert case["metric_config"]["name"] == "rubric_corpusqa_generic"
        rubric = case["metric_config"]["config"]
        weights = [rubric[f"{name}_weight"] for name in ("length", "expertise", "citations", "excerpts")]
        assert weights == [0.05, 0.05, 0.2, 0.1] and (rubric["low_length"], rubric["high_length"]) == (300, 600)
        assert rubric["question"] == case["initial_prompt"]
        names = [item["name"] for item in rubric["other_properties"]]
        most, nice = (sum(name.startswith(kind) for name in names) for kind in ("most_important_item_", "nice_to_have_item_"))
        assert most and most + nice == len(names) == len(set(names))
        base = 0.6 / (2 * most + nice) if nice else 0.6 / most / 2
        for item in rubric["other_properties"]:
            assert set(item) == {"name", "criterion", "weight", "evidence"}
            assert item["weight"] == pytest.approx(2 * base if item["name"].startswith("most") else base)
            assert item["evidence"] and all(stands(snippet, prose) for snippet in item["evidence"])
        assert sum(weights) + sum(item["weight"] for item in rubric["other_properties"]) == pytest.approx(1)
        assert len(contexts[case["case_id"]]) == 8
        assert all(set(ctx) == {"title", "text"} and stands(ctx["text"], prose) for ctx in contexts[case["case_id"]])
    twice = [case for case in configs if case["agreement"]]
    assert len(twice) == 2 and {case["annotator"] for case in twice} == {"Annotator 1 Assignments", "Annotator 2 Assignments"}
    assert twice[0]["initial_prompt"] == twice[1]["initial_prompt"]


def test_multi(questions: Records, catalogue: dict[str, Any], prose: str) -> None:
    papers = {entry["title"]: entry for entry in catalogue.values()}
    for record in questions["multi"]:
        assert set(record) == {"input", "ctxs", "annotator", "id", "subject", "output"}
        assert 4 <= len(record["ctxs"]) <= 8 and 80 <= len(record["output"].split()) <= 200
        cited = {int(number) for number in re.findall(r"\[(\d+)\]", record["output"])}
        assert 0 in cited and max(cited) < len(record["ctxs"]) and len(cited) >= 4
        for ctx in record["ctxs"]:
            assert set(ctx) == {"title", "text", "url", "year", "authors", "citation_count"}
            assert ctx["year"] == papers[ctx["title"]]["year"] and stands(ctx["text"], prose)
            assert [author["name"] for author in ctx["authors"]] == papers[ctx["title"]]["authors"]
        for sentence in re.split(r"(?<=\.) (?=[A-Z])", record["output"]):
            numbers = re.findall(r"\d+\.\d+|\d{2,}", re.sub(r"\[\d+\]", "", sentence))
            sources = " ".join(record["ctxs"][int(n)]["text"] for n in re.findall(r"\[(\d+)\]", sentence)) or str(
                record["ctxs"]
            )
            assert all(number in sources for number in numbers), sentence


def test_readme_states_the_counts(specimen: Path, questions: Records) -> None:
    readme = (specimen / "README.md").read_text(encoding="utf-8")
    assert "compares with nothing published" in readme and "CC0" in readme
    tags = Counter(tag for record in questions["airqa"] for tag in record["tags"])
    functions = Counter(record["evaluator"]["eval_func"] for record in questions["airqa"])
    for name, count in [*tags.items(), *functions.items()]:
        assert re.search(rf"\| `?{name}`? \| {count} \|", readme), (name, count)
