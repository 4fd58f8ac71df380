"""The embeddings are those of all-MiniLM-L6-v2, and are paid for once."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

import vivavoce.corpus.embed as embed
from vivavoce.corpus.embed import MiniLM, word_pieces
from vivavoce.corpus.memo import Memo

# Sentences, and their cosines by the fp32 weights of sentence-transformers/all-MiniLM-L6-v2, computed with numpy alone.
SENTENCES = [
    "A man is eating food.",
    "A man is eating a piece of bread.",
    "The girl is carrying a baby.",
    "Sparse attention lowers the cost of reading long documents.",
    "Budgeted routing makes it cheaper to read long papers.",
    "Zürich's naïve café: 3.14 × 10⁻² ± 5 % (see Eq. 2).",
]
COSINES = [
    [1.0, 0.7553, -0.105, -0.0446, -0.0643, -0.0213],
    [0.7553, 1.0, -0.061, -0.017, -0.0359, 0.0753],
    [-0.105, -0.061, 1.0, -0.0571, -0.0206, -0.0394],
    [-0.0446, -0.017, -0.0571, 1.0, 0.5367, 0.0556],
    [-0.0643, -0.0359, -0.0206, 0.5367, 1.0, 0.092],
    [-0.0213, 0.0753, -0.0394, 0.0556, 0.092, 1.0],
]
FIRST = [[0.0332, 0.0044, -0.0063, 0.0484], [0.0525, 0.0552, -0.0112, -0.0057], [-0.0363, -0.0357, -0.0272, 0.0383]]


def test_the_vocabulary_is_the_published_one() -> None:
    text = (Path(embed.__file__).parent / "data" / "vocab.txt").read_bytes()
    assert hashlib.sha256(text).hexdigest() == "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"


def test_word_pieces() -> None:
    encoded = word_pieces(8).encode("Embeddings of Café tokenization")
    assert encoded.tokens == ["[CLS]", "em", "##bed", "##ding", "##s", "of", "cafe", "[SEP]"]


def test_embeddings_equal_the_original_model() -> None:
    vectors = MiniLM(threads=1).embed(SENTENCES)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(6), abs=1e-5)
    assert vectors @ vectors.T == pytest.approx(np.array(COSINES), abs=0.01)
    assert vectors[:3, :4] == pytest.approx(np.array(FIRST), abs=0.01)


def test_a_vector_depends_on_nothing_but_its_text() -> None:
    model = MiniLM(threads=2)
    alone = model.embed(SENTENCES[:1])
    assert (model.embed(SENTENCES + SENTENCES[:1])[[0, 6]] == alone).all()
    assert (model.query(SENTENCES[0]) == alone[0]).all()


def test_the_memo_saves_the_second_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = MiniLM(threads=1, memo=Memo(tmp_path)).embed(SENTENCES[:3])
    again = MiniLM(threads=1, memo=Memo(tmp_path))
    monkeypatch.setattr(again, "_run", lambda text: pytest.fail(f"embedded again: {text}"))
    assert (again.embed(SENTENCES[:3]) == first).all()
    assert len(Memo(tmp_path)) == 3


def test_another_cut_is_another_memory(tmp_path: Path) -> None:
    MiniLM(threads=1, memo=Memo(tmp_path), max_tokens=8).embed(SENTENCES[:1])
    MiniLM(threads=1, memo=Memo(tmp_path), max_tokens=4).embed(SENTENCES[:1])
    assert len(Memo(tmp_path)) == 2


def test_a_broken_memo_file_is_embedded_anew(tmp_path: Path) -> None:
    memo = Memo(tmp_path)
    first = MiniLM(threads=1, memo=memo).embed(SENTENCES[:1])
    for file in tmp_path.glob("*.vectors.npy"):
        file.write_bytes(b"garbage")
    assert len(Memo(tmp_path)) == 0
    assert (MiniLM(threads=1, memo=Memo(tmp_path)).embed(SENTENCES[:1]) == first).all()
