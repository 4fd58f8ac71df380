"""The corrected parsing: what it repairs, what it refuses and how it says so, and that nothing a model writes breaks it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vivavoce.models.action_text import SYNTAXES, Syntax, write_action, write_turn
from vivavoce.tools.actions import ACTIONS, SPACES, function_tools
from vivavoce.tools.parse import check_arguments, last_block, parse_reply

HYBRID = SPACES["hybrid"]


@pytest.mark.parametrize(
    ("action", "name", "arguments"),
    [
        ("GenerateAnswer('BERT')", "GenerateAnswer", {"answer": "BERT"}),
        ("RetrieveFromDatabase('SELECT 1')", "RetrieveFromDatabase", {"sql": "SELECT 1"}),
        ("`GenerateAnswer(answer=42)`", "GenerateAnswer", {"answer": 42}),
        ("```python\nGenerateAnswer(answer=42)\n```", "GenerateAnswer", {"answer": 42}),
        ("GenerateAnswer(answer=42).", "GenerateAnswer", {"answer": 42}),
        ("generateanswer(answer=42)", "GenerateAnswer", {"answer": 42}),
        ("GenerateAnswer(answer='a (b) [c')", "GenerateAnswer", {"answer": "a (b) [c"}),
        ("GenerateAnswer(answer='it\\'s')", "GenerateAnswer", {"answer": "it's"}),
        ("ViewImage(paper_id='x', page_number='2')", "ViewImage", {"paper_id": "x", "page_number": 2, "bounding_box": []}),
        ("GenerateAnswer(answer='x')\nI am sure.", "GenerateAnswer", {"answer": "x"}),
    ],
)
def test_calls_that_are_read(action: str, name: str, arguments: dict[str, Any]) -> None:
    parsed = parse_reply(f"[Thought]: t\n[Action]: {action}", HYBRID, "markdown")
    assert (parsed.action, parsed.arguments, parsed.thought) == (name, arguments, "t")


def test_repairs_leave_a_note() -> None:
    assert parse_reply("[Action]: GenerateAnswer('x')", HYBRID, "markdown").notes == ("positional arguments taken as answer",)


@pytest.mark.parametrize(
    ("action", "says"),
    [
        ("GenerateAnswer(ans=42)", "Unknown parameter(s) ans: GenerateAnswer takes answer."),
        ("GenerateAnswer()", "Missing parameter(s) answer"),
        ("GenerateAnswer(answer=1, thought='z')", "Unknown parameter(s) thought"),
        ("GenerateAnswer('a', 'b')", "Too many arguments"),
        ("GenerateAnswer('a', answer='b')", "Twice given"),
        ("GenerateAnswer(answer=1+1)", "must be a literal value"),
        ("GenerateAnswer(**{'answer': 1})", "write each parameter by name"),
        ("ViewImage(paper_id='x', page_number='two')", "page_number must be a whole number"),
        ("ViewImage(paper_id='x', page_number=1, bounding_box=[1, 2])", "bounding_box must be [x, y, width, height] or []"),
        ("RetrieveFromDatabase(sql=['SELECT 1'])", "sql must be a text"),
        ("Search(query='x')", "there is no action 'Search' here"),
        ("I cannot answer.", "expected a call such as"),
        ("GenerateAnswer(answer='x", "a quote is not closed"),
        ("", "expected a call"),
    ],
)
def test_errors_say_what_to_do(action: str, says: str) -> None:
    parsed = parse_reply(f"[Thought]: t\n[Action]: {action}", HYBRID, "markdown")
    assert not parsed.action
    assert says in parsed.error


def test_a_tag_inside_a_thought_is_no_tag() -> None:
    parsed = parse_reply("[Thought]: the best action: search first\n[Action]: GenerateAnswer(answer=1)", HYBRID, "markdown")
    assert (parsed.arguments, parsed.thought) == ({"answer": 1}, "the best action: search first")


def test_the_last_action_before_a_made_up_observation() -> None:
    first, second = "[Thought]: a\n[Action]: CalculateExpr(expr='1+1')", "[Thought]: b\n[Action]: GenerateAnswer(answer=2)"
    made_up = f"{first}\n[Observation]: 3\n{second}"
    assert parse_reply(made_up, HYBRID, "markdown").action == "CalculateExpr"
    parsed = parse_reply(f"{first}\n{second}", HYBRID, "markdown")
    assert (parsed.action, parsed.thought) == ("GenerateAnswer", "b")


def test_an_observation_tag_inside_an_argument_does_not_cut_it() -> None:
    reply = "[Thought]: t\n[Action]: GenerateAnswer(answer='''see\nObservation: 3 of them''')"
    assert parse_reply(reply, HYBRID, "markdown").arguments == {"answer": "see\nObservation: 3 of them"}


@pytest.mark.parametrize("syntax", SYNTAXES)
@pytest.mark.parametrize("protocol", ["react", "code_block"])
def test_what_is_written_is_read_back(syntax: Syntax, protocol: Any) -> None:
    arguments = {
        "query": "a < b & 'c' \"d\"",
        "collection_name": "text_bm25_en",
        "table_name": "chunks",
        "column_name": "text_content",
    }
    full = {**arguments, "filter": "pdf_id == 'x' and page_number < 3", "limit": 3}
    text = write_action("RetrieveFromVectorstore", full, syntax)
    reply = f"So:\n```{syntax}\n{text}\n```" if protocol == "code_block" else write_turn("why", text)
    parsed = parse_reply(reply, HYBRID, syntax, protocol=protocol)
    assert parsed.arguments == full, parsed.error


def test_yaml_words_stay_words_and_aliases_are_refused() -> None:
    yes = "[Action]:\naction_type: GenerateAnswer\nparameters:\n  answer: yes"
    assert parse_reply(yes, HYBRID, "yaml").arguments == {"answer": "yes"}
    bomb = "[Action]:\na: &a [1, 1]\nb: &b [*a, *a]\naction_type: GenerateAnswer\nparameters: {answer: *b}"
    assert "aliases are not read" in parse_reply(bomb, HYBRID, "yaml").error
    tag = "[Action]:\naction_type: GenerateAnswer\nparameters:\n  answer: !!python/object/apply:os.getcwd []"
    assert parse_reply(tag, HYBRID, "yaml").error


def test_xml_entities_are_refused(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("canary")
    reply = (
        f'<!DOCTYPE a [<!ENTITY x SYSTEM "file://{secret}">]>'
        "<action><action_type>GenerateAnswer</action_type><parameters><answer>&x;</answer></parameters></action>"
    )
    parsed = parse_reply(reply, HYBRID, "xml")
    assert "canary" not in str(parsed)


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("reason\n```txt\nBERT\n```", "BERT"),
        ("```BERT```", "BERT"),
        ("```42\n```", "42"),
        ("```txt BERT```", "BERT"),
        ('```["a", "b"]\n```', '["a", "b"]'),
        ("```python\nx\n```\ntext\n```txt\ny\n```", "y"),
        ("The answer is BERT", "The answer is BERT"),
        ("```txt\n```", ""),
        ("```txt\nnot closed", "not closed"),
    ],
)
def test_the_last_block(reply: str, answer: str) -> None:
    assert last_block(reply) == answer


@settings(max_examples=150, deadline=None)
@given(
    st.text(alphabet=st.sampled_from("[]{}()<>'\"`:=,#\\\n -+*&!|Aa1é\u202e\ud800"), max_size=120), st.sampled_from(SYNTAXES)
)
def test_garbage_is_an_error_and_never_an_exception(noise: str, syntax: Syntax) -> None:
    for prefix in (
        "",
        "[Thought]: t\n[Action]: ",
        "GenerateAnswer(answer=",
        "<action>",
        "{",
        "[Action]:\naction_type: GenerateAnswer\nparameters: ",
    ):
        for rules in ("corrected", "as_published"):
            parsed = parse_reply(prefix + noise, HYBRID, syntax, rules=rules)  # type: ignore[arg-type]
            assert bool(parsed.action) != bool(parsed.error)


@pytest.mark.parametrize(
    "text",
    ["(" * 5000, "[" * 20000, "{'a':" * 5000, "-" * 100_000 + "1", "GenerateAnswer(answer=" + "(" * 4000 + ")" * 4000 + ")"],
)
@pytest.mark.parametrize("syntax", SYNTAXES)
def test_deep_nesting_is_bounded(text: str, syntax: Syntax) -> None:
    for rules in ("corrected", "as_published"):
        assert parse_reply(f"GenerateAnswer(answer={text})", HYBRID, syntax, rules=rules).error  # type: ignore[arg-type]


def test_function_tools_are_what_the_parser_takes() -> None:
    tools = {tool["function"]["name"]: tool["function"]["parameters"] for tool in function_tools(ACTIONS)}
    assert tools["ViewImage"]["required"] == ["paper_id", "page_number"]
    assert tools["RetrieveFromVectorstore"]["additionalProperties"] is False
    for name, schema in tools.items():
        assert set(schema["properties"]) == {item.name for item in ACTIONS[name].parameters}
    assert check_arguments("ViewImage", [], {"paper_id": "x", "page_number": 2.0}).arguments["page_number"] == 2
