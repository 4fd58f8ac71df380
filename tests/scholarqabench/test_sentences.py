"""Sentences: the published split is NLTK's, the corrected one keeps citations, abbreviations, lists and CJK right."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vivavoce.metrics.citations.sentences import _nltk, body, nltk_sentences, statements

WORDS = (
    "The",
    "model",
    "[0]",
    "3.5",
    "e.g.",
    "et al.",
    "Dr.",
    "U.S.",
    "A.",
    "Fig.",
    "1.",
    "in",
    "word.",
    "Word?",
    "é",
    "word.[3]",
)
SIGNS = (".", "!", "?", "...", "\n", '"', "'", "”", "“", "»", ")", "(", ":", ",", "。", "…", "word.”")
PIECES = st.sampled_from((*WORDS, *SIGNS))
TEXTS = st.lists(st.tuples(PIECES, st.sampled_from([" ", " ", ""])), max_size=14).map(
    lambda parts: "".join(word + gap for word, gap in parts)
)


@settings(max_examples=600, deadline=None)
@given(TEXTS)
def test_split_equals_nltk(text):
    """Where the quick tokenizer is taken it gives what NLTK's algorithm gives with the same parameters."""
    assert nltk_sentences(text) == _nltk().tokenize(text)


def test_split_equals_nltk_on_real_texts(data: Path):
    records = json.loads((data / "scholarqa_multi/human_answers.json").read_text(encoding="utf-8"))
    texts = [record["output"] for record in records]
    texts += [item["text"] for record in records for item in record["ctxs"] if isinstance(item["text"], str)]
    assert len(texts) == 753
    assert [text for text in texts if nltk_sentences(text) != _nltk().tokenize(text)] == []


def test_plain_answers_never_load_nltk():
    """NLTK's import costs seconds; a process that grades plain answers must not pay them."""
    code = (
        "import sys; from vivavoce.metrics.citations import corrected, published; "
        "published.sentences('One is. Two is [0].'); corrected.parse('One [0]. Two . . . three [1].'); "
        "sys.exit('nltk' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It costs 3.5 mg, cf. Fig. 2 of the work by Smith et al. (2020). Then it stops.", 2),
        ("Many tools exist, e.g. BERT and others. One is used.", 2),
        ("- first item\n- second item\n1. third one", 3),
        ("A wrapped line\ngoes on here. Then ends.", 2),
        ("A line without stop\nAnother line", 2),
        ("## Heading\n\n**Bold heading:**\n\nText here.", 1),
        ("**A bold sentence is kept.**", 1),
        ("主张一。主张二！主张三？", 3),
        ("No.", 1),
        ("---\n***\n12.", 0),
        ("", 0),
    ],
)
def test_statements(text, expected):
    assert len(statements(text)) == expected


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Body [0].\n\nReferences:\n[0] A title\n\n[1] Another", "Body [0]."),
        ("Body [0].\n## References\n1. A title\n2. Another", "Body [0]."),
        ("Body [0].\n**References**", "Body [0]."),
        ("References are cited [0].\nBody.", "References are cited [0].\nBody."),
        ("References\nThis section says that they matter [0].", "References\nThis section says that they matter [0]."),
    ],
)
def test_reference_list_is_left_out(text, kept):
    assert body(text) == kept


@given(st.text(max_size=200))
def test_any_text_splits_without_loss_of_letters(text):
    """Statements never invent text: their letters come, in order, from the text."""
    letters = iter(re.sub(r"\s", "", text))
    for statement in statements(text):
        assert all(character in letters for character in re.sub(r"\s", "", statement))
