"""One-word answers: the published numbers, and degenerate answers that only the published rule rewards."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vivavoce.benchmarks.scholarqabench import read
from vivavoce.metrics.shortanswer import exact_match, extract_label, normalize, published_match, token_f1
from vivavoce.records import Question

FILES = {"scifact": "scifact_test", "pubmedqa": "pubmed_test"}
MICRO = json.loads((Path(__file__).parent / "micro.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def questions(data: Path) -> dict[str, list[Question]]:
    return {
        task: list(read({"questions": data / f"single_paper_tasks/{file}.jsonl"}, {"task": task}))
        for task, file in FILES.items()
    }


@pytest.fixture(scope="module")
def golden(shared: Path) -> dict:
    return json.loads((shared / "golden/scholarqabench/deterministic.json").read_text(encoding="utf-8"))


def mean(values) -> float:
    values = list(values)
    return sum(values) / len(values) * 100


@pytest.mark.parametrize("task", FILES)
def test_published_match(task, questions, golden):
    keys = [key for key in golden if key.startswith(f"match/{task}/")]
    assert len(keys) >= 8
    for key in keys:
        rule = key.split("/", 2)[2]
        for_question = {
            "output=gold_ctx_text": lambda item: item.contexts[0].text,
            "output=input": lambda item: item.text,
        }.get(rule, lambda item, rule=rule: rule.removeprefix("const='").removesuffix("'"))
        if rule == "output=gold_ctx_text" and task == "pubmedqa":
            continue  # the golden number is of the objects that leak the label: see test_reader.py
        value = mean(published_match(for_question(item), item.gold["answer"]) for item in questions[task])
        assert value == pytest.approx(golden[key], abs=1e-12), key


@pytest.mark.parametrize("task", FILES)
def test_squad_measures(task, questions, golden):
    keys = [key for key in golden if key.startswith(f"single_qa/{task}/")]
    assert len(keys) == 2
    for key in keys:
        answer = key.split("const='")[1].removesuffix("'")
        golds = [item.gold["answer"] for item in questions[task]]
        assert mean(exact_match(answer, gold) for gold in golds) == pytest.approx(golden[key]["QA-EM"], abs=1e-12)
        assert mean(token_f1(answer, gold) for gold in golds) == pytest.approx(golden[key]["QA-F1"], abs=1e-12)


@pytest.mark.parametrize(("task", "answer"), [("scifact", "true or false"), ("pubmedqa", "yes and no")])
def test_degenerate_answers_score_100_as_published_and_0_corrected(task, answer, questions):
    items = questions[task]
    assert mean(published_match(answer, item.gold["answer"]) for item in items) == 100.0
    assert mean(extract_label(answer, item.gold["labels"]).label == item.gold["answer"] for item in items) == 0.0


@pytest.mark.parametrize(
    ("task", "answer", "share"), [("scifact", "true", 65.86538461538461), ("pubmedqa", "yes", 61.56583629893239)]
)
def test_majority_class(task, answer, share, questions):
    """The majority label scores the same under both rules."""
    items = questions[task]
    assert mean(extract_label(answer, item.gold["labels"]).label == item.gold["answer"] for item in items) == pytest.approx(
        share
    )


@pytest.mark.parametrize("case", MICRO["strings"], ids=lambda case: case["text"])
def test_normal_form(case):
    assert normalize(case["text"]) == case["normalize_answer"]


CLAIMS = [
    ("true [0]", "true"),
    ("**True**", "true"),
    ("Answer: true", "true"),
    ("[Response_Start]false [1][Response_End]", "false"),
    ("supports", "true"),
    ("This claim is untrue.", "false"),
    ("It is not true.", "false"),
    ("not true", "false"),
    ("The claim is not supported [1].", "false"),
    ("The evidence contradicts the claim.", "false"),
    ("False, since it would be true only if X.", "false"),
    ("The answer is false because true effects differ.", "false"),
    ("true or false", None),
    ("true, false", None),
    ("True/False", None),
    ("The answer could be true or false", None),
    ("neither true nor false", None),
    ("truely", None),
    ("maybe", None),
    ("", None),
]
BOOLEANS = [
    ("yes", "yes"),
    ("No.", "no"),
    ("no [0][1]", "no"),
    ("Yes, there is no doubt", "yes"),
    ("The answer is yes.", "yes"),
    ("In short, yes.", "yes"),
    ("yes and no", None),
    ("yes; no", None),
    ("Yes/No", None),
    ("There is no evidence.", None),
    ("It is not known.", None),
    ("eyes", None),
    ("maybe", None),
]


@pytest.mark.parametrize(("answer", "label"), CLAIMS)
def test_label_of_a_claim(answer, label):
    assert extract_label(answer, ("true", "false")).label == label


@pytest.mark.parametrize(("answer", "label"), BOOLEANS)
def test_label_of_a_boolean_question(answer, label):
    assert extract_label(answer, ("yes", "no")).label == label


def test_why_there_is_no_label():
    assert extract_label("maybe", ("yes", "no")).reason == "abstained"
    assert extract_label("yes and no", ("yes", "no")).reason == "ambiguous"


@given(st.text(max_size=60), st.sampled_from([("yes", "no"), ("true", "false")]))
def test_any_text_gives_one_label_or_a_reason(text, labels):
    found = extract_label(text, labels)
    assert (found.label in labels) != (found.reason in ("abstained", "ambiguous"))


@given(st.sampled_from(["true", "false"]), st.sampled_from(["", " ", "\n", "**", " [0]", ".", " [0][1]."]))
def test_decoration_does_not_change_a_label(label, after):
    assert extract_label(label + after, ("true", "false")).label == label


@pytest.mark.parametrize(
    ("answer", "gold", "f1"), [("", "", 1.0), ("", "yes", 0.0), ("the", "a", 1.0), ("yes no", "yes", 2 / 3)]
)
def test_token_f1_edges(answer, gold, f1):
    assert token_f1(answer, gold) == pytest.approx(f1)
