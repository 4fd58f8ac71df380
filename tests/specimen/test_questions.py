"""AirQA and SciDQA records: format, coverage, and golds that the papers bear out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

JUDGED = {
    "eval_reference_answer_with_llm",
    "eval_candidate_reference_answer_with_llm",
    "eval_scoring_points_with_llm",
    "eval_partial_scoring_points_with_llm",
    "eval_reference_answer_and_scoring_points_with_llm",
    "eval_complex_math_formula_with_llm",
}
PLAIN = {
    "eval_string_exact_match",
    "eval_string_fuzzy_match",
    "eval_bool_exact_match",
    "eval_int_exact_match",
    "eval_float_exact_match",
    "eval_structured_object_exact_match",
    "eval_element_included",
    "eval_element_list_included",
    "eval_element_list_overlap",
    "eval_paper_relevance_with_reference_answer",
}
LOGICAL = {"eval_conjunction", "eval_disjunction", "eval_negation"}
FIELDS = {
    "uuid",
    "question",
    "answer_format",
    "tags",
    "anchor_pdf",
    "reference_pdf",
    "conference",
    "reasoning_steps",
    "evaluator",
    "state",
    "annotator",
}
TASKS, KINDS = {"single", "multiple", "retrieval"}, {"text", "table", "image", "formula", "metadata"}
Records = dict[str, list[dict[str, Any]]]


def leaves(evaluator: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The evaluator functions inside conjunctions, disjunctions and negations."""
    kwargs = evaluator["eval_kwargs"]
    if "eval_func_list" in kwargs:
        for func, inner in zip(kwargs["eval_func_list"], kwargs["eval_kwargs_list"], strict=True):
            yield from leaves({"eval_func": func, "eval_kwargs": inner})
    elif evaluator["eval_func"] == "eval_negation":
        yield from leaves(kwargs)
    else:
        yield evaluator["eval_func"], kwargs


def atoms(gold: Any) -> Iterator[Any]:
    """The scalars of a gold."""
    if isinstance(gold, dict):
        gold = list(gold.values())
    if isinstance(gold, list):
        for item in gold:
            yield from atoms(item)
    else:
        yield gold


def test_records_have_the_published_fields(questions: Records) -> None:
    for name in ("airqa", "scidqa"):
        records = questions[name]
        assert len({record["uuid"] for record in records}) == len({record["question"] for record in records}) == len(records)
        for record in records:
            assert set(record) == FIELDS
            assert set(record["evaluator"]) == {"eval_func", "eval_kwargs"}
            assert record["annotator"] == "specimen" and record["answer_format"].startswith("Your answer should be")
            tags = record["tags"]
            assert len(tags) == len(set(tags))
            assert len(set(tags) & TASKS) == 1 and len(set(tags) & {"objective", "subjective"}) == 1 and set(tags) & KINDS
            assert set(tags) <= TASKS | KINDS | {"objective", "subjective"}


def test_counts(questions: Records) -> None:
    assert {name: len(records) for name, records in questions.items()} == {
        "airqa": 123,
        "scidqa": 12,
        "scifact": 12,
        "pubmedqa": 12,
        "qasa": 6,
        "cs": 5,
        "multi": 6,
    }
    tags = Counter(tag for record in questions["airqa"] for tag in record["tags"])
    assert all(tags[tag] >= 9 for tag in TASKS | KINDS), tags


def test_every_evaluator_is_present(questions: Records) -> None:
    top = {record["evaluator"]["eval_func"] for record in questions["airqa"]}
    assert top == JUDGED | PLAIN | LOGICAL
    judged = [r for r in questions["airqa"] if any(func in JUDGED for func, _ in leaves(r["evaluator"]))]
    assert len(judged) >= 10
    assert any(record["evaluator"]["eval_func"] == "eval_conjunction" for record in judged)
    structured = [
        kw for r in questions["airqa"] for f, kw in leaves(r["evaluator"]) if f == "eval_structured_object_exact_match"
    ]
    assert {type(kw["gold"]) for kw in structured} == {list, dict}
    assert {kw.get("ignore_order") for kw in structured} >= {True, False}
    formulas = [kw["formulas"] for r in questions["airqa"] for f, kw in leaves(r["evaluator"]) if "formulas" in kw]
    assert {type(formula) for formula in formulas} == {list, str}


def test_subjective_means_judged(questions: Records) -> None:
    for record in questions["airqa"]:
        judged = any(func in JUDGED for func, _ in leaves(record["evaluator"]))
        assert ("subjective" in record["tags"]) == judged, record["question"]
        for func, kwargs in leaves(record["evaluator"]):
            if func in JUDGED:
                assert kwargs["question"]
            if func == "eval_partial_scoring_points_with_llm":
                assert 0 < kwargs["count"] < len(kwargs["scoring_points"])


def test_anchors_and_venues_exist(questions: Records, catalogue: dict[str, Any]) -> None:
    venues = {f"{entry['venue']}{entry['year']}" for entry in catalogue.values()}
    titles = {entry["title"]: f"{entry['venue']}{entry['year']}" for entry in catalogue.values()}
    for record in questions["airqa"] + questions["scidqa"]:
        assert set(record["anchor_pdf"]) | set(record["reference_pdf"]) <= set(catalogue)
        task = (set(record["tags"]) & TASKS).pop()
        if task == "retrieval":
            assert not record["anchor_pdf"] and record["conference"] and set(record["conference"]) <= venues
            for func, kwargs in leaves(record["evaluator"]):
                if func == "eval_paper_relevance_with_reference_answer":
                    assert titles[kwargs["reference_answer"]] in record["conference"]
        else:
            assert not record["conference"]
            assert (len(record["anchor_pdf"]) == 1) if task == "single" else record["anchor_pdf"] + record["reference_pdf"]
    assert sum(len(record["anchor_pdf"]) > 1 for record in questions["airqa"]) >= 10


def test_questions_do_not_leak_their_golds(questions: Records) -> None:
    for record in questions["airqa"]:
        for _, kwargs in leaves(record["evaluator"]):
            for value in atoms(kwargs.get("gold", kwargs.get("reference_answer", ""))):
                if isinstance(value, bool):
                    continue
                for shown in (record["question"], record["answer_format"]):
                    if isinstance(value, str):
                        assert not re.search(rf"\b{re.escape(value.lower())}\b", shown.lower()) or not value, record["question"]
                    elif value > 2:
                        assert not re.search(rf"(?<![\d.,]){re.escape(f'{value:,}')}(?![\d,]|\.\d)", shown), record["question"]


def test_golds_stand_in_the_papers(questions: Records, texts: dict[str, str], raw_sources: dict[str, str]) -> None:
    checked = 0
    for record in questions["airqa"]:
        steps = " ".join(record["reasoning_steps"])
        if not record["anchor_pdf"] or "Calculate" in steps or "Count" in steps:
            continue
        # What a chart shows stands in its source only; all else must be in the PDF's own text.
        where = [raw_sources[id_] if "image" in record["tags"] else texts[id_] for id_ in record["anchor_pdf"]]
        text = (" ".join(where) + steps).lower()
        for func, kwargs in leaves(record["evaluator"]):
            values = [value for value in atoms(kwargs.get("gold", [])) if not isinstance(value, bool)]
            if func == "eval_element_included":
                assert any(str(value).lower() in text for value in values)
                continue
            for value in values:
                forms = (
                    {value.lower()} if isinstance(value, str) else {f"{value:,}", f"{value:,}".removesuffix(".0"), str(value)}
                )
                wanted = "|".join(re.escape(form) for form in sorted(forms))
                assert re.search(rf"(?<![\d.])(?:{wanted})(?!\d|\.\d)", text), (record["question"], value)
                checked += 1
    assert checked >= 80


def test_calculated_golds(questions: Records) -> None:
    expected = {  # from the numbers of the papers
        "lichen cover of at least 25 percent": 8 + 7,
        "slip rate below 10 percent": sum(rate < 10 for rate in (23.6, 15.8, 14.4, 9.8, 12.5, 8.2, 4.1)),
        "fewer seeds an hour": 212 - 149,
        "larger than the budget that TernReader": 2048 - 1024,
        "more numbers does a pebble have": 96 - 64,
        "reaches and lakes": 36 + 31,
    }
    for phrase, value in expected.items():
        (record,) = [record for record in questions["airqa"] if phrase in record["question"]]
        assert record["evaluator"]["eval_kwargs"]["gold"] == value
    (record,) = [record for record in questions["airqa"] if "plain-language summary" in record["question"]]
    assert record["evaluator"]["eval_kwargs"]["eval_kwargs_list"] == [
        {"gold": round(100 * 2 / 38, 1), "ndigits": 1},
        {"gold": 100 * 2 / 38 < 4.1},
    ]
    (record,) = [record for record in questions["airqa"] if "drop in crack density" in record["question"]]
    assert record["evaluator"]["eval_kwargs"]["gold"] == [round(5.6 - 0.7, 1), round(18.7 - 14.2, 1)]


def test_scidqa_records(questions: Records, texts: dict[str, str], raw_sources: dict[str, str]) -> None:
    for record in questions["scidqa"]:
        kwargs = record["evaluator"]["eval_kwargs"]
        assert record["evaluator"]["eval_func"] == "eval_scidqa"
        assert set(kwargs) == {"question", "reference_answer"} and kwargs["question"] == record["question"]
        assert len(kwargs["reference_answer"].split()) >= 40
        assert {"single", "text", "subjective"} <= set(record["tags"]) and len(record["anchor_pdf"]) == 1
        source = texts[record["anchor_pdf"][0]] + raw_sources[record["anchor_pdf"][0]]
        for number in re.findall(r"\d[\d,]*\.\d+|\d{2,}", kwargs["reference_answer"]):
            assert number in source, (record["question"], number)
    assert sum(r["evaluator"]["eval_kwargs"]["reference_answer"].startswith("A: ") for r in questions["scidqa"]) == 10
    assert sum(bool(set(record["tags"]) & {"table", "image", "formula"}) for record in questions["scidqa"]) >= 10
