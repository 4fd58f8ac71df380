"""Search: by words, by meaning, and both; ties by key; only within the papers that are asked for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vivavoce.corpus.base import Hit
from vivavoce.corpus.index import Row, fuse, open_index
from vivavoce.corpus.local_index import LocalIndex
from vivavoce.errors import ConfigError, DataError

ROWS = [
    Row(key="k3", paper="p1", text="The routing of passages to lanes", page=1),
    Row(key="k1", paper="p1", text="A passage about nothing else", page=2),
    Row(key="k2", paper="p2", text="A passage about nothing else"),
    Row(key="k0", paper="p3", text="Bats hear in the dark", page=9),
]
VECTORS = np.array([[1, 0, 0], [0.6, 0.8, 0], [0.6, 0.8, 0], [0, 0, 1]], dtype=np.float32)
ALL = "metadata.abstract"


@pytest.fixture
def index(tmp_path: Path) -> LocalIndex:
    found = LocalIndex(tmp_path)
    found.write(ALL, ROWS, VECTORS)
    found.write("chunks.text_content", ROWS[:2], None)
    return LocalIndex(tmp_path)


def keys(hits: list[Hit]) -> list[str]:
    return [hit.key for hit in hits]


def test_words_are_stemmed_and_stop_words_do_not_count(index: LocalIndex) -> None:
    assert keys(index.words(ALL, "how are PASSAGES routed?", (), 5)) == ["k3", "k1", "k2"]
    assert index.words(ALL, "the of and", (), 5) == []
    assert index.words(ALL, '+broken AND (query:[ syntax" \\', (), 5) == []


def test_a_hit_carries_its_row(index: LocalIndex) -> None:
    (hit,) = index.words(ALL, "bats", (), 5)
    assert (hit.paper, hit.table, hit.column, hit.key, hit.text, hit.page) == (
        "p3",
        "metadata",
        "abstract",
        "k0",
        "Bats hear in the dark",
        9,
    )
    assert hit.score > 0


def test_meaning_ranks_by_cosine_and_ties_by_key(index: LocalIndex) -> None:
    hits = index.meaning(ALL, np.array([0.6, 0.8, 0], dtype=np.float32), (), 3)
    assert keys(hits) == ["k1", "k2", "k3"]
    assert [hit.score for hit in hits] == pytest.approx([1, 1, 0.6])


def test_a_tie_at_the_edge_is_cut_by_key(index: LocalIndex) -> None:
    assert keys(index.words(ALL, "nothing else", (), 1)) == ["k1"]
    assert keys(index.meaning(ALL, np.array([0, 1, 0], dtype=np.float32), (), 1)) == ["k1"]


def test_many_ties_are_cut_by_key(tmp_path: Path) -> None:
    found = LocalIndex(tmp_path)
    rows = [Row(key=f"k{number:03}", paper="p", text="same words") for number in reversed(range(300))]
    found.write(ALL, rows, None)
    assert keys(found.words(ALL, "words", (), 3)) == ["k000", "k001", "k002"]


def test_only_the_papers_asked_for(index: LocalIndex) -> None:
    assert keys(index.words(ALL, "passage", ["p2"], 5)) == ["k2"]
    assert keys(index.meaning(ALL, VECTORS[0], ["p3", "p2"], 5)) == ["k2", "k0"]
    assert index.words(ALL, "passage", ["unknown"], 5) == []
    assert index.meaning(ALL, VECTORS[0], ["unknown"], 5) == []


def test_a_filter_does_not_change_scores(index: LocalIndex) -> None:
    (alone,) = index.words(ALL, "passage nothing", ["p2"], 5)
    everywhere = {hit.key: hit.score for hit in index.words(ALL, "passage nothing", (), 5)}
    assert alone.score == pytest.approx(everywhere["k2"])


def test_what_is_not_there_is_named(index: LocalIndex) -> None:
    with pytest.raises(DataError, match="no such collection"):
        index.words("chunks.nothing", "x", (), 5)
    with pytest.raises(DataError, match="no embeddings"):
        index.meaning("chunks.text_content", VECTORS[0], (), 5)
    with pytest.raises(ConfigError, match="no known index"):
        open_index("ftp://somewhere", Path())


def test_an_empty_collection_finds_nothing(tmp_path: Path) -> None:
    found = LocalIndex(tmp_path)
    found.write(ALL, [], np.zeros((0, 3), dtype=np.float32))
    assert found.words(ALL, "x", (), 5) == []
    assert found.meaning(ALL, VECTORS[0], (), 5) == []


@settings(max_examples=25)
@given(st.integers(1, 40), st.integers(1, 50), st.integers(0, 2**31))
def test_meaning_equals_a_full_sort(count: int, limit: int, seed: int) -> None:
    import tempfile

    random = np.random.default_rng(seed)
    vectors = random.integers(-1, 2, (count, 4)).astype(np.float32)
    rows = [Row(key=f"k{number}", paper=f"p{number:02}", text="x") for number in range(count)]
    query = random.integers(-1, 2, 4).astype(np.float32)
    with tempfile.TemporaryDirectory() as folder:
        found = LocalIndex(Path(folder))
        found.write(ALL, rows, vectors)
        hits = found.meaning(ALL, query, (), limit)
    expected = sorted(range(count), key=lambda n: (-float(vectors[n] @ query), rows[n].key))[:limit]
    assert keys(hits) == [rows[n].key for n in expected]


def test_fusion_is_reciprocal_rank() -> None:
    def hit(key: str) -> Hit:
        return Hit(paper="p", table="t", column="c", key=key, text="", score=9.0)

    fused = fuse([hit("a"), hit("b")], [hit("b"), hit("c")], limit=5)
    assert [(h.key, round(h.score, 6)) for h in fused] == [("b", round(1 / 62 + 1 / 61, 6)), ("a", 0.016393), ("c", 0.016129)]
    assert keys(fuse([hit("b")], [hit("a")], limit=1)) == ["a"]
