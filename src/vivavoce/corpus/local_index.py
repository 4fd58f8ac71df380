"""A search index in files: tantivy (MIT) for words, a matrix of vectors for meaning.

A collection is a folder: `rows.arrow` (key, paper, page, text, sorted by paper), `words/` (tantivy, one document a row) and
`vectors.npy`. Files are mapped, not read, so that opening is quick and processes share memory. Cosines are computed against
all rows, or those of the papers asked for: exact, and 1.2 million chunks (6,795 papers) are 1.8 GB.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vivavoce.corpus.base import Hit
from vivavoce.corpus.index import Row, Vectors, hit_of
from vivavoce.errors import DataError

_BATCH = 4096
_BLOCK = 65536  # rows multiplied at a time


class LocalIndex:
    """Collections under one folder; read-only once written, from many threads and processes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._open: dict[str, _Collection] = {}

    def write(self, collection: str, rows: Iterable[Row], vectors: Vectors | None) -> None:
        """Rows must come sorted by paper, so that each paper's lie together."""
        import pyarrow as pa
        import tantivy

        folder = self._folder / collection
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "words").mkdir(parents=True)
        schema = pa.schema([("key", pa.string()), ("paper", pa.string()), ("page", pa.int32()), ("text", pa.string())])
        index = tantivy.Index(_schema(), path=str(folder / "words"))
        index.register_tokenizer("english", _analyzer())
        # One thread and one commit give one segment, whose order is that of the rows.
        writer = index.writer(heap_size=256_000_000, num_threads=1)
        with pa.OSFile(str(folder / "rows.arrow"), "wb") as sink, pa.ipc.new_file(sink, schema) as stream:
            source = iter(rows)
            start = 0
            while batch := list(islice(source, _BATCH)):
                columns = [[getattr(row, name) for row in batch] for name in schema.names]
                stream.write_batch(pa.record_batch(columns, schema=schema))
                for number, row in enumerate(batch, start):
                    writer.add_document(tantivy.Document(row=number, paper=row.paper, text=row.text))
                start += len(batch)
        writer.commit()
        writer.wait_merging_threads()
        if vectors is not None:
            np.save(folder / "vectors.npy", vectors.astype(np.float32), allow_pickle=False)
        self._open.pop(collection, None)

    def words(self, collection: str, query: str, papers: Sequence[str], limit: int) -> list[Hit]:
        return self._collection(collection).words(query, papers, limit)

    def meaning(self, collection: str, vector: Vectors, papers: Sequence[str], limit: int) -> list[Hit]:
        return self._collection(collection).meaning(vector, papers, limit)

    def _collection(self, name: str) -> _Collection:
        if name not in self._open:
            if not (self._folder / name / "rows.arrow").is_file():
                raise DataError(
                    f"{self._folder / name}: no such collection in the search index. Delete the corpus to ingest it again."
                )
            self._open[name] = _Collection(name, self._folder / name)
        return self._open[name]


class _Collection:
    def __init__(self, name: str, folder: Path) -> None:
        import pyarrow as pa

        self._name = name
        self._folder = folder
        table = pa.ipc.open_file(pa.memory_map(str(folder / "rows.arrow"))).read_all()
        self._columns = {column: table.column(column) for column in table.column_names}

    def words(self, query: str, papers: Sequence[str], limit: int) -> list[Hit]:
        import tantivy

        index, searcher, analyzer = self._tantivy
        schema = index.schema
        terms = sorted(set(analyzer.analyze(query)))
        if not terms or limit < 1:
            return []
        should = [(tantivy.Occur.Should, tantivy.Query.term_query(schema, "text", term)) for term in terms]
        wanted = tantivy.Query.boolean_query(should)
        if papers:
            within = tantivy.Query.const_score_query(tantivy.Query.term_set_query(schema, "paper", sorted(set(papers))), 0.0)
            wanted = tantivy.Query.boolean_query([(tantivy.Occur.Must, wanted), (tantivy.Occur.Must, within)])
        fetch = limit + 8
        while True:  # until no tie is cut in two
            found = searcher.search(wanted, fetch, count=False).hits
            if len(found) < fetch or found[-1][0] < found[limit - 1][0]:
                break
            fetch *= 4
        rows = [(score, searcher.doc(address)["row"][0]) for score, address in found]
        return self._best(np.array([row for _, row in rows], dtype=np.int64), np.array([s for s, _ in rows]), limit)

    def meaning(self, vector: Vectors, papers: Sequence[str], limit: int) -> list[Hit]:
        if not (self._folder / "vectors.npy").is_file():
            raise DataError(f"{self._name} has no embeddings: add it to index.embedding in conf/corpus, or search it by words.")
        chosen = self._rows_of(papers)
        rows: list[NDArray[np.int64]] = []
        scores: list[NDArray[np.float32]] = []
        for start in range(0, len(self._vectors) if chosen is None else len(chosen), _BLOCK):
            if chosen is None:
                block = self._vectors[start : start + _BLOCK]
                numbers = np.arange(start, start + len(block))
            else:
                numbers = chosen[start : start + _BLOCK]
                block = self._vectors[numbers]
            # einsum sums each row alone and in the same order, whatever the block: equal texts get equal scores.
            values = np.einsum("ij,j->i", block, vector)
            keep = _top(values, limit)
            rows.append(numbers[keep])
            scores.append(values[keep])
        if not rows or limit < 1:
            return []
        return self._best(np.concatenate(rows), np.concatenate(scores), limit)

    def _rows_of(self, papers: Sequence[str]) -> NDArray[np.int64] | None:
        """The rows of papers in order; None for all."""
        if not papers:
            return None
        spans = [self._spans[paper] for paper in sorted(set(papers)) if paper in self._spans]
        return np.concatenate([np.arange(first, last) for first, last in spans]) if spans else np.zeros(0, dtype=np.int64)

    def _best(self, rows: NDArray[np.int64], scores: NDArray[Any], limit: int) -> list[Hit]:
        ranked = sorted(
            ((-float(score), self._columns["key"][row].as_py(), row) for row, score in zip(rows.tolist(), scores, strict=True))
        )
        return [hit_of(self._name, self._row(row), -score) for score, _, row in ranked[:limit]]

    def _row(self, number: int) -> Row:
        return Row(**{name: column[number].as_py() for name, column in self._columns.items()})

    @cached_property
    def _vectors(self) -> Vectors:
        vectors: Vectors = np.load(self._folder / "vectors.npy", mmap_mode="r", allow_pickle=False)
        return vectors

    @cached_property
    def _spans(self) -> dict[str, tuple[int, int]]:
        spans: dict[str, tuple[int, int]] = {}
        for number, paper in enumerate(self._columns["paper"].to_pylist()):
            spans[paper] = (spans.get(paper, (number, 0))[0], number + 1)
        return spans

    @cached_property
    def _tantivy(self) -> tuple[Any, Any, Any]:
        import tantivy

        index = tantivy.Index.open(str(self._folder / "words"))
        analyzer = _analyzer()
        index.register_tokenizer("english", analyzer)
        return index, index.searcher(), analyzer


def _top(values: NDArray[np.float32], limit: int) -> NDArray[np.int64]:
    """The places of the `limit` highest values and of all that equal the last of them."""
    if len(values) <= limit:
        return np.arange(len(values))
    edge = np.partition(values, len(values) - limit)[len(values) - limit]
    return np.flatnonzero(values >= edge)


def _schema() -> Any:
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("row", stored=True)
    builder.add_text_field("paper", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("text", tokenizer_name="english", index_option="freq")
    return builder.build()


def _analyzer() -> Any:
    from tantivy import Filter, TextAnalyzerBuilder, Tokenizer

    builder = TextAnalyzerBuilder(Tokenizer.simple())
    for step in (
        Filter.remove_long(60),
        Filter.lowercase(),
        Filter.ascii_fold(),
        Filter.stopword("english"),
        Filter.stemmer("english"),
    ):
        builder = builder.filter(step)
    return builder.build()
