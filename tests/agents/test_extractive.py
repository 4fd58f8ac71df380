"""The offline baseline: what it picks, how it coerces, what it does with the actions on offer."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vivavoce.agents.base import Seat
from vivavoce.agents.tool_loop import ToolLoop
from vivavoce.models.chat import ChatRequest
from vivavoce.models.extractive import ExtractiveModel
from vivavoce.models.extractive_act import next_action
from vivavoce.models.extractive_answer import answer, shape_of
from vivavoce.models.extractive_text import pieces_of, rank, words
from vivavoce.models.sentences import split_sentences
from vivavoce.records import Question
from vivavoce.tools.actions import SPACES
from vivavoce.tools.parse import parse_reply
from vivavoce.tools.sql_check import check_select

TEXT = (
    "Cranes routes every passage to a lane. Cranes reaches an accuracy of 71.5 on HarborQA after 1,200 steps. "
    "It was not trained on MillDocs."
)
TASKS = ["airqa", "claim", "boolean", "scidqa", "long_form"]
TABLE = (
    "<table><tr><th>Method</th><th>HarborQA</th><th>MillDocs</th></tr>"
    "<tr><td>Cranes</td><td>71.5</td><td>63.0</td></tr><tr><td>FlatChunk</td><td>65.2</td><td>58.9</td></tr></table>"
)


def fields(
    question: str, answer_format: str = "", task: str = "airqa", texts: tuple[str, ...] = (TEXT,), **more: Any
) -> dict[str, Any]:
    contexts = [{"id": str(number), "text": text, "title": f"Paper {number}"} for number, text in enumerate(texts)]
    usual = {"kind": "answer", "question": question, "answer_format": answer_format, "task": task, "contexts": contexts}
    return {**usual, "history": [], "papers": [], "cite": True, **more}


@pytest.mark.parametrize(
    ("question", "answer_format", "value"),
    [
        ("What accuracy does Cranes reach on HarborQA?", "Your answer should be a python float.", 71.5),
        ("After how many steps does Cranes reach its accuracy?", "Your answer should be an integer.", 1200),
        ("Was it trained on MillDocs?", "Your answer should be a python boolean, True or False.", False),
        ("Does Cranes route every passage to a lane?", "Your answer should be a python boolean.", True),
        ("Is the lane passage 'routed' or 'skipped'?", 'Your answer should be "skim" or "lane".', "lane"),
        (
            "On which collection does Cranes reach an accuracy of 71.5?",
            "Your answer should be a single string, the name.",
            "HarborQA",
        ),
        ("Which paper routes passages?", "Your answer should be the title of the paper WITHOUT ANY EXPLANATION.", "Paper 0"),
        ("What accuracy after how many steps?", "Your answer should be a python list of a float and an integer.", [71.5, 1200]),
        ("What are accuracy and steps?", 'A Python dict with the keys "accuracy" and floats as values', {"accuracy": 71.5}),
    ],
)
def test_answers_have_the_shape_asked_for(question: str, answer_format: str, value: Any) -> None:
    assert answer(fields(question, answer_format)) == value


def test_a_table_is_read_by_row_and_column() -> None:
    asked = fields("What does FlatChunk reach on MillDocs?", "a python float", texts=(TEXT, TABLE))
    assert answer(asked) == 58.9
    assert pieces_of(TABLE) == ["Cranes; HarborQA 71.5; MillDocs 63.0", "FlatChunk; HarborQA 65.2; MillDocs 58.9"]


@pytest.mark.parametrize(
    ("task", "question", "value"),
    [
        ("claim", "Cranes reaches an accuracy of 71.5 on HarborQA.", "true [0]"),
        ("claim", "Cranes never reaches an accuracy of 71.5 on HarborQA.", "false [0]"),
        ("boolean", "Was it trained on MillDocs?", "no [0]"),
        ("short_form", "What accuracy does Cranes reach on HarborQA?", None),
    ],
)
def test_other_tasks_cite_what_they_used(task: str, question: str, value: str | None) -> None:
    text = answer(fields(question, task=task))
    assert text == value if value else "accuracy of 71.5 on HarborQA after 1,200 steps [0]." in text


def test_without_passages_it_answers_by_fixed_rules() -> None:
    shapes = {
        "a python boolean": True,
        "an integer": 2,
        "a python float": 0.5,
        "a python list of two strings": ["none", "none"],
    }
    for answer_format, value in shapes.items():
        assert answer(fields("What is it?", answer_format, texts=())) == value
    assert answer(fields("x", task="claim", texts=(), cite=False)) == "true"


@pytest.mark.parametrize(
    ("answer_format", "shape"),
    [
        ("Your answer should be a Python dictionary, e.g. {}", "dict"),
        ("Your answer should be a single python list", "list"),
        ("Your answer should be the title of the paper WITHOUT ANY EXPLANATION.", "title"),
        ("Your answer should be True or False", "boolean"),
        ('Your answer should be a string, either "task-level" or "example-specific".', "choice"),
        ("Your answer should be a single integer.", "integer"),
        ("Your answer should be a percentage with two decimal places", "float"),
        ("Your answer should be the exact formula in LaTeX format", "formula"),
        ("Your answer should be a short free-form text", "text"),
        ("Your answer should be a single string, the name of the best model.", "name"),
    ],
)
def test_shapes_of_published_formats(answer_format: str, shape: str) -> None:
    assert shape_of(answer_format, "What?") == shape


@pytest.mark.parametrize("syntax", ["markdown", "json", "xml", "yaml"])
@pytest.mark.parametrize("space", sorted(SPACES))
async def test_its_actions_can_be_parsed_in_every_syntax(space: str, syntax: Any) -> None:
    more = {"kind": "act", "actions": list(SPACES[space]), "syntax": syntax, "turn_cap": 5, "native": False}
    tables = {"tables": ["table_content"], "metadata": ["title", "abstract", "authors"], "chunks": ["text_content"]}
    state = fields(
        "Which author's table has the \"highest\" 'score'?",
        "a string",
        **more,
        tables=tables,
        indexed=[["chunks", "text_content"]],
    )
    state["papers"] = ["it's"]
    for _ in range(5):
        reply = await ExtractiveModel().chat(ChatRequest(messages=(), fields=state))
        parsed = parse_reply(reply.text, SPACES[space], syntax)
        assert parsed.action, parsed.error
        assert not parsed.notes
        if parsed.action == "RetrieveFromDatabase":
            check_select(parsed.arguments["sql"], list(tables))
        state["history"] = [*state["history"], {"action": parsed.action, "observation": ""}]
    assert parsed.action == "GenerateAnswer"


async def test_native_calls_hold_json() -> None:
    state = fields("x", "a string", kind="act", actions=list(SPACES["classic"]), native=True, syntax="markdown")
    [call] = (await ExtractiveModel().chat(ChatRequest(messages=(), fields=state))).tool_calls
    assert (call.name, json.loads(call.arguments)) == ("ClassicRetrieve", {"query": "x", "limit": 5})


def test_it_computes_a_difference() -> None:
    text = "In spring 41 voles were seen, and 29 voles in autumn."
    state = fields(
        "How many more voles were seen in spring than in autumn?",
        "an integer",
        texts=(text,),
        actions=["CalculateExpr", "GenerateAnswer"],
    )
    _, action, arguments = next_action(state)
    assert (action, arguments) == ("CalculateExpr", {"expr": "round(41 - 29, 6)"})
    state["history"] = [{"action": action, "observation": "The calculated result is: 12"}]
    assert next_action(state)[1:] == ("GenerateAnswer", {"answer": 12})


async def test_a_question_cannot_inject_sql(library: Any) -> None:
    text = "'; DROP TABLE chunks; -- %' OR 1=1 \") Cranes' accuracy?"
    question = Question(id="q", benchmark="b", task="airqa", text=text, answer_format="a float", papers=())
    rollout = await ToolLoop("s", {"space": "symbolic"}).answer(question, Seat(model=ExtractiveModel(), corpus=library))
    assert rollout.outcome == "answered"
    assert not [turn.error for turn in rollout.turns if turn.error]


def test_ranking_prefers_rare_words_and_is_stable() -> None:
    ranked = rank("accuracy on HarborQA", [{"text": TEXT}, {"text": TEXT}])
    assert "HarborQA" in ranked[0].text
    assert [item.passage for item in ranked[:2]] == [0, 1]


def test_words_and_sentences() -> None:
    assert words("The 1,200 Forecasts were forecasting") == ["1200", "forecast", "forecast"]
    assert split_sentences("We use e.g. BERT. See Fig. 3 and A. Smith et al. 2020. Then 3.5 is no end! Done") == [
        "We use e.g. BERT.",
        "See Fig. 3 and A. Smith et al. 2020.",
        "Then 3.5 is no end!",
        "Done",
    ]


@settings(max_examples=80, deadline=None)
@given(
    st.text(max_size=80),
    st.text(max_size=80),
    st.text(max_size=200),
    st.sampled_from(TASKS),
)
def test_any_text_gets_an_answer(question: str, answer_format: str, text: str, task: str) -> None:
    value = answer(fields(question, answer_format, task, texts=(text, f"<table><tr><td>{text}</td></tr></table>")))
    assert isinstance(value, (str, int, float, bool, list, dict))
