"""The offline baseline plays feedback, edits and attribution by what the passages say."""

from __future__ import annotations

import pytest

from vivavoce.metrics.citations import corrected
from vivavoce.models.extractive_revise import revise

CONTEXTS = [
    {"id": "a", "title": "", "text": "Moss grows on shaded walls. Lichens need light."},
    {"id": "b", "title": "", "text": "Salt slows the growth of moss by half."},
]


def test_feedback_names_what_the_draft_leaves_out():
    fields = {"kind": "feedback", "question": "How does salt change moss?", "answer": "Moss grows on walls [0]."}
    assert "salt" in revise(fields)
    assert revise({**fields, "answer": "Salt changes moss [1]."}) == "none"


def test_an_edit_adds_a_cited_sentence_from_the_new_passages():
    draft = "Moss grows on shaded walls [0]."
    text = revise({"kind": "edit", "feedback": "salt", "answer": draft, "contexts": CONTEXTS, "first_new": 1})
    assert text == f"{draft} Salt slows the growth of moss by half [1]."
    assert revise({"kind": "edit", "feedback": "volcano", "answer": draft, "contexts": CONTEXTS, "first_new": 1}) == draft


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Moss grows on shaded walls.", "Moss grows on shaded walls [0]."),
        ("Nothing of the kind is known.", "Nothing of the kind is known."),
        ("Moss grows on shaded walls [1].", "Moss grows on shaded walls [1]."),
    ],
)
def test_attribution_cites_what_a_passage_covers(line, expected):
    text = revise({"kind": "attribute", "answer": line, "contexts": CONTEXTS})
    assert text == expected
    assert corrected.claim(text) == corrected.claim(line)
