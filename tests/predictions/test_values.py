"""What a cell is worth: every oddity of the published files ends as an outcome or a note."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vivavoce.agents.predictions import PredictionOptions
from vivavoce.agents.predictions.values import Value, value_of

DEFAULT = PredictionOptions()


def excel(raw: Any, **options: Any) -> Value:
    return value_of(raw, PredictionOptions(**options), spreadsheet=True)


@pytest.mark.parametrize(
    ("raw", "outcome", "note"),
    [
        (None, "invalid", "empty"),
        (float("nan"), "invalid", "empty"),
        ("", "invalid", "blank"),
        (" \n", "invalid", "blank"),
        ("[]", "invalid", "blank: []"),
        ("?", "invalid", "no_words: ?"),
        ("SKIPPED", "refused", "refusal: SKIPPED"),
        ("NA", "answered", ""),
        ("β", "answered", ""),
        (3, "answered", "not_text: int"),
        (True, "answered", "not_text: bool"),
        (["a", "b"], "answered", "not_text: list"),
    ],
)
def test_outcomes(raw: Any, outcome: str, note: str) -> None:
    value = value_of(raw, DEFAULT)
    assert value.outcome == outcome
    assert note in value.notes or not note
    assert (value.answer is None) == (outcome != "answered")
    assert bool(value.reason) == (outcome != "answered")


def test_error_sentinels_end_as_errors() -> None:
    assert value_of("[ERROR]: boom", DEFAULT).outcome == "error"


def test_chat_headers_go_and_leave_a_note() -> None:
    value = value_of("<|start_header_id|>assistant<|end_header_id|>\n\nYes, it does.", DEFAULT)
    assert value.answer == "\n\nYes, it does."
    assert value.notes == ("chat_header: <|start_header_id|>assistant<|end_header_id|>",)
    kept = value_of("<|im_start|>assistant\nYes", PredictionOptions(headers="keep"))
    assert kept.answer == "<|im_start|>assistant\nYes"


def test_other_control_tokens_are_reported_and_stay() -> None:
    value = value_of("first</s> second [INST]", DEFAULT)
    assert value.answer == "first</s> second [INST]"
    assert value.notes == ("control_tokens: </s> [INST]",)


def test_a_header_alone_is_no_answer() -> None:
    assert value_of("<|start_header_id|>assistant<|end_header_id|>", DEFAULT).outcome == "invalid"


def test_excel_cut_and_escapes() -> None:
    assert excel("x" * 32_767).notes == ("excel_cut: 32767 characters",)
    assert excel("one_x000D_\ntwo") == Value("answered", "one\r\ntwo", "", ("excel_escapes: _x000D_",))
    assert excel("one_x000D_", escapes="keep").answer == "one_x000D_"
    assert value_of("one_x000D_", DEFAULT).notes == ()  # only Excel writes them


def test_one_character_a_line() -> None:
    split = "\n".join("" if letter == " " else letter for letter in "The model uses a graph.")
    value = value_of(split, DEFAULT)
    assert value.answer == "The model uses a graph."
    assert value.notes == ("split_characters: 23 lines",)
    assert value_of(split, PredictionOptions(split_characters="keep")).answer == split
    assert value_of("a\nb\nc", DEFAULT).answer == "a\nb\nc"  # too short to tell


@pytest.mark.parametrize(("lists", "answer"), [("text", "['One. ', '', 'Two.']"), ("first", "One."), ("join", "One.\nTwo.")])
def test_lists_of_generations(lists: str, answer: str) -> None:
    value = value_of("['One. ', '', 'Two.']", PredictionOptions(lists=lists))  # type: ignore[arg-type]
    assert value.answer == answer
    assert value.notes == ("list: 3 items",)


def test_lists_are_never_executed() -> None:
    text = "[__import__('os').system('true')]"
    assert value_of(text, PredictionOptions(lists="first")).answer == text
    assert value_of("[" * 10_000 + "]" * 10_000, DEFAULT).outcome == "invalid"


def test_blank_lists_may_be_answers() -> None:
    assert value_of("[1]", PredictionOptions(blank=[""])).outcome == "answered"


@given(st.one_of(st.text(max_size=300), st.floats(), st.integers(), st.none(), st.lists(st.text(max_size=5), max_size=4)))
def test_anything_gives_a_consistent_value(raw: Any) -> None:
    for lists in ("text", "first", "join"):
        value = value_of(raw, PredictionOptions(lists=lists), spreadsheet=True)  # type: ignore[arg-type]
        assert (value.answer is None) == (value.outcome != "answered")
