"""A memory of embeddings by the digest of their text, so that a second ingest and a second corpus do not pay again.

A folder of pairs of files, `<name>.keys.npy` (uint8 [n, 16]) and `<name>.vectors.npy` (float32 [n, width]), each pair written
once and never changed: two processes may add at the same time, and a kill loses at most the shard that was not yet written.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vivavoce.files import atomic


class Memo:
    """Key (16 bytes) -> vector. A shard that cannot be read is left out, and its texts are embedded anew."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._places: dict[bytes, tuple[int, int]] = {}
        self._shards: list[NDArray[np.float32]] = []
        for keys in sorted(folder.glob("*.keys.npy")):
            self._read(keys)

    def __len__(self) -> int:
        return len(self._places)

    def get(self, key: bytes) -> NDArray[np.float32] | None:
        """The vector of a key, or None."""
        place = self._places.get(key)
        return None if place is None else self._shards[place[0]][place[1]]

    def put(self, keys: Sequence[bytes], vectors: NDArray[np.float32]) -> None:
        """Keep vectors [n, width] for n keys."""
        table = np.frombuffer(b"".join(keys), dtype=np.uint8).reshape(len(keys), 16)
        name = hashlib.sha256(table.tobytes()).hexdigest()[:32]
        # Vectors first: a pair without keys is not seen.
        for part, array in (("vectors", vectors.astype(np.float32)), ("keys", table)):
            with atomic(self._folder / f"{name}.{part}.npy", "wb") as stream:
                np.save(stream, array, allow_pickle=False)
        self._add(table, vectors)

    def _read(self, path: Path) -> None:
        try:
            keys = np.load(path, allow_pickle=False)
            vectors = np.load(path.with_name(path.name.replace(".keys.", ".vectors.")), mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError):
            return
        if keys.dtype == np.uint8 and keys.ndim == vectors.ndim == 2 and keys.shape[1] == 16 and len(keys) == len(vectors):
            self._add(keys, vectors)

    def _add(self, keys: NDArray[np.uint8], vectors: NDArray[np.float32]) -> None:
        for row, key in enumerate(keys):
            self._places.setdefault(key.tobytes(), (len(self._shards), row))
        self._shards.append(vectors)
