"""The corrected profile: every written form of a mark, marks bound to their sentence, and honest counting."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vivavoce.metrics.citations import corrected, longform, published, shortform
from vivavoce.records import Passage

LONG = "This is a sufficiently long statement about alpha beta gamma results"


def passages(count: int) -> list[Passage]:
    return [Passage(id=str(number), text=f"DOC{number}") for number in range(count)]


@pytest.mark.parametrize(
    ("mark", "ids"),
    [
        ("[1]", (1,)),
        ("[1, 2]", (1, 2)),
        ("[1,2,3]", (1, 2, 3)),
        ("[1-3]", (1, 2, 3)),
        ("[1–3]", (1, 2, 3)),
        ("[1 - 3, 7]", (1, 2, 3, 7)),
        ("[1][2]", (1, 2)),
        ("[1] [2]", (1, 2)),
        ("[ 1 ]", (1,)),
        ("[1; 2]", (1, 2)),
        ("[1 and 2]", (1, 2)),
        ("[^1]", (1,)),
        ("【1】", (1,)),
        ("［１，２］", (1, 2)),
        ("[2][2]", (2,)),
        ("[3-1]", (3, 1)),
        ("[1-900]", (1, 900)),
        ("[Smith et al., 2020]", ()),
        ("[12 Smith]", ()),
        ("[0.5, 0.9]", ()),
        ("(1)", ()),
        ("[]", ()),
    ],
)
def test_forms(mark, ids):
    text = f"A claim {mark}."
    assert corrected.ids(text) == ids
    if ids:
        assert corrected.parse(text) == [corrected.Statement(claim="A claim.", ids=ids)]


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("One is so. [0] Two is so. [1]", [("One is so.", (0,)), ("Two is so.", (1,))]),
        ("One is so.[0][2] Two is so [1].", [("One is so.", (0, 2)), ("Two is so.", (1,))]),
        ('He said "so." [2] Then left [3].', [('He said "so."', (2,)), ("Then left.", (3,))]),
        ("It is old. [3] shows that it changed.", [("It is old.", ()), ("shows that it changed.", (3,))]),
        ("As Smith et al. [3] found, it holds.", [("As Smith et al. found, it holds.", (3,))]),
        ("主张一。[0]主张二【1】。", [("主张一。", (0,)), ("主张二。", (1,))]),
        ("- one [0]\n- two [1]", [("one", (0,)), ("two", (1,))]),
        ("Known (see [1]). Also ([2], [3]).", [("Known.", (1,)), ("Also.", (2, 3))]),
        ("So it is. [1]\n\n[2] says more.", [("So it is.", (1,)), ("says more.", (2,))]),
        ("[0] [1]", []),
    ],
)
def test_marks_stay_with_their_sentence(text, statements):
    assert [(item.claim, item.ids) for item in corrected.parse(text)] == statements


@given(
    st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=4, unique=True), min_size=1, max_size=5),
    st.booleans(),
    st.booleans(),
)
def test_every_form_of_the_same_citations_parses_alike(groups, after_stop, listed):
    """However a citation is written, the statements and their ids are the same."""

    def mark(group: list[int]) -> str:
        return f"[{', '.join(map(str, group))}]" if listed else "".join(f"[{number}]" for number in group)

    parts = [f"{LONG}. {mark(group)}" if after_stop else f"{LONG} {mark(group)}." for group in groups]
    assert [item.ids for item in corrected.parse(" ".join(parts))] == [tuple(group) for group in groups]


@given(st.text(alphabet="ab .[]0123,-–【】\n。", max_size=80))
def test_any_text_parses(text):
    for statement in corrected.parse(text):
        assert not corrected.MARK.search(statement.claim)
        assert len(set(statement.ids)) == len(statement.ids)


def long_form(text: str, count: int, play, oracle, shown=None, base: int = 0):
    return play(longform.as_corrected(text, passages(count), range(count) if shown is None else shown, base=base), oracle)


def test_no_inheritance(play, oracles):
    score = long_form(f"{LONG} [0]. {LONG} again.", 1, play, oracles["one"])
    assert (score.recall, score.precision, score.calls) == (0.5, 1.0, 1)


def test_out_of_range_ids_are_wrong_citations_but_void_nothing(play, oracles):
    score = long_form(f"{LONG} [0][9].", 2, play, oracles["one"])
    assert (score.recall, score.precision, score.citations) == (1.0, 0.5, 2)
    score = long_form(f"{LONG} [9].", 2, play, oracles["one"])
    assert (score.recall, score.precision, score.calls) == (0.0, 0.0, 0)


def test_ids_of_passages_never_shown_are_wrong(play, oracles):
    score = long_form(f"{LONG} [0]. {LONG} [3].", 4, play, oracles["one"], shown=range(2))
    assert (score.recall, score.precision) == (0.5, 0.5)


def test_duplicates_count_once(play, oracles):
    score = long_form(f"{LONG} [0][0].", 1, play, oracles["joint_only(>=2 docs)"])
    assert (score.citations, score.calls, score.recall) == (1, 1, 0.0)


def test_all_citations_are_checked(play, oracles):
    """As published only three of four are (C9)."""
    text = f"{LONG} [0][1][2][3]."
    assert long_form(text, 4, play, oracles["one"]).citations == 4
    assert play(longform.as_published(text, passages(4)), oracles["one"]).citations == 3


def test_index_base(play, oracles):
    score = long_form(f"{LONG} [1].", 1, play, oracles["one"], base=1)
    assert (score.recall, score.precision) == (1.0, 1.0)
    assert long_form(f"{LONG} [0].", 1, play, oracles["one"], base=1).precision == 0.0


def test_short_sentences_and_cjk_count(play, oracles):
    text = "Short one [0]. 短句【0】。"
    assert long_form(text, 1, play, oracles["one"]).statements == 2
    assert play(longform.as_published(text, passages(1)), oracles["one"]).statements == 0


def test_empty_answer_scores_zero(play, oracles):
    score = long_form(" \n", 3, play, oracles["one"])
    assert (score.recall, score.precision, score.statements) == (0.0, 0.0, 0)


def test_unneeded_citation_is_no_sound_one(play, oracles):
    score = long_form(f"{LONG} [0][1].", 2, play, oracles["only_if_doc0_present"])
    assert (score.sound, score.citations) == (1, 2)
    score = long_form(f"{LONG} [0][1].", 2, play, oracles["only_joint_0_and_1"])
    assert (score.sound, score.recall) == (2, 1.0)


def test_missing_verdicts_are_counted(play):
    score = play(longform.as_corrected(f"{LONG} [0]. {LONG} [1].", passages(2), range(2)), lambda passage, claim: None)
    assert (score.missing, score.calls) == (2, 2)


def test_short_form_reads_the_answer_only(play, oracles):
    """As published, a number in brackets in the question counts as a citation (C13)."""
    question = "What does [0] mean?"
    assert play(shortform.as_published(question, "yes", passages(1)), oracles["one"]).recall == 1.0
    assert play(shortform.as_corrected(question, "yes", passages(1), range(1)), oracles["one"]).recall == 0.0
    score = play(shortform.as_corrected("Claim.", "true [0][7]", passages(1), range(1)), oracles["one"])
    assert (score.recall, score.precision) == (1.0, 0.5)
    assert play(shortform.as_corrected("Claim.", "", passages(1), range(1)), oracles["one"]).recall == 0.0


def test_both_profiles_ask_the_same_about_a_plain_sentence(play):
    """Otherwise each would have to be paid for."""
    text = f"{LONG} [0]. {LONG} and more [1]."
    seen: list[set[tuple[str, str]]] = []
    for scorer in (longform.as_published(text, passages(2)), longform.as_corrected(text, passages(2), range(2))):
        pairs: set[tuple[str, str]] = set()
        play(scorer, lambda passage, claim, pairs=pairs: not pairs.add((passage, claim)))
        seen.append(pairs)
    assert seen[0] == seen[1]


@pytest.mark.parametrize(
    ("text", "words", "as_published"),
    [
        ("Two words [1].", 2, 2),
        ("两个词 [1]。", 3, 2),
        ("A b.\n\nReferences:\n[0] c d", 2, 5),
        ("So - be it.", 3, 4),
        ("", 0, 0),
    ],
)
def test_words(text, words, as_published):
    assert (corrected.words(text), published.words(text)) == (words, as_published)
