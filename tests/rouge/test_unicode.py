"""The Unicode variant: what the ASCII one drops counts, and on ASCII text the two are the same."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vivavoce.metrics.rouge import Rouge

ASCII, UNICODE = Rouge("ascii"), Rouge("unicode")
TEXTS = ["模型在测试集上的准确率", "η ακρίβεια του μοντέλου", "Большая языковая модель", "ディープラーニング", "परिणाम बेहतर हैं"]


@pytest.mark.parametrize("text", TEXTS)
def test_identical_texts_score_one_only_in_unicode(text: str) -> None:
    assert UNICODE.compare(text, text).rougeL.fmeasure == 1.0
    assert ASCII.compare(text, text).rougeL.fmeasure == 0.0


def test_accents_do_not_cut_words() -> None:
    assert len(UNICODE.tokens("naïve Schrödinger Gödel")) == 3
    assert len(ASCII.tokens("naïve Schrödinger Gödel")) == 6
    assert ASCII.compare("Gödel", "Gädel").rouge1.fmeasure == 1.0  # both are "g del" there
    assert UNICODE.compare("Gödel", "Gädel").rouge1.fmeasure == 0.0


@given(st.text(max_size=60))
def test_normal_forms_are_one(text: str) -> None:
    composed, decomposed = unicodedata.normalize("NFC", text), unicodedata.normalize("NFD", text)
    assert UNICODE.tokens(composed) == UNICODE.tokens(decomposed)


@given(
    st.text(alphabet=st.characters(max_codepoint=127), max_size=80),
    st.text(alphabet=st.characters(max_codepoint=127), max_size=80),
)
def test_equal_on_ascii(gold: str, answer: str) -> None:
    assert ASCII.compare(gold, answer) == UNICODE.compare(gold, answer)


def test_full_width_and_case_fold() -> None:
    assert UNICODE.tokens("ＢＬＥＵ Straße") == UNICODE.tokens("bleu STRASSE")


def test_unknown_variant() -> None:
    with pytest.raises(ValueError, match="expected ascii or unicode"):
        Rouge("latin")  # type: ignore[arg-type]
