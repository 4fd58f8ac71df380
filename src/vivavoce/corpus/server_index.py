"""A search index on an OpenSearch server (Apache-2.0), for corpora that one machine should not hold: plain HTTP, no client
library.

Each collection is an index `<prefix>-<table>-<column>` with the fields key, paper, page, text (BM25 of the `english`
analyzer) and vector (`knn_vector`, cosine). The tables stay in DuckDB. Tested against a local stub that answers as OpenSearch
2 does, not against a real cluster.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

from vivavoce.corpus.base import Hit
from vivavoce.corpus.index import Row, Vectors, hit_of
from vivavoce.errors import DataError

_BATCH = 500


class ServerIndex:
    """`uri` is `http(s)://host:port/prefix`. DataError names the server when it cannot be reached or refuses."""

    def __init__(self, uri: str, *, seconds: float = 60.0) -> None:
        self._base, self._prefix = uri.rsplit("/", 1)
        self._seconds = seconds

    def write(self, collection: str, rows: Iterable[Row], vectors: Vectors | None) -> None:
        name = self._name(collection)
        self._ask("DELETE", name, missing_is_fine=True)
        fields: dict[str, Any] = {
            "key": {"type": "keyword"},
            "paper": {"type": "keyword"},
            "page": {"type": "integer"},
            "text": {"type": "text", "analyzer": "english"},
        }
        if vectors is not None:
            method = {"name": "hnsw", "engine": "lucene", "space_type": "cosinesimil"}
            fields["vector"] = {"type": "knn_vector", "dimension": int(vectors.shape[1]), "method": method}
        self._ask("PUT", name, {"settings": {"index": {"knn": vectors is not None}}, "mappings": {"properties": fields}})
        source = iter(enumerate(rows))
        while batch := list(islice(source, _BATCH)):
            lines: list[dict[str, Any]] = []
            for number, row in batch:
                document: dict[str, Any] = {"key": row.key, "paper": row.paper, "page": row.page, "text": row.text}
                if vectors is not None:
                    document["vector"] = [round(float(value), 7) for value in vectors[number]]
                lines += [{"index": {"_id": row.key}}, document]
            reply = self._ask("POST", f"{name}/_bulk", lines)
            if reply.get("errors"):
                raise DataError(f"{self._base}/{name}: the server refused rows: {json.dumps(reply)[:300]}")
        self._ask("POST", f"{name}/_refresh")

    def words(self, collection: str, query: str, papers: Sequence[str], limit: int) -> list[Hit]:
        wanted: dict[str, Any] = {"bool": {"must": [{"match": {"text": query}}]}}
        if papers:
            wanted["bool"]["filter"] = [{"terms": {"paper": sorted(set(papers))}}]
        return self._search(collection, wanted, limit)

    def meaning(self, collection: str, vector: Vectors, papers: Sequence[str], limit: int) -> list[Hit]:
        near: dict[str, Any] = {"vector": [round(float(value), 7) for value in vector], "k": limit}
        if papers:
            near["filter"] = {"terms": {"paper": sorted(set(papers))}}
        return self._search(collection, {"knn": {"vector": near}}, limit)

    def _search(self, collection: str, query: dict[str, Any], limit: int) -> list[Hit]:
        body = {
            "query": query,
            "size": limit,
            "sort": [{"_score": "desc"}, {"key": "asc"}],
            "_source": ["key", "paper", "page", "text"],
        }
        reply = self._ask("POST", f"{self._name(collection)}/_search", {**body, "track_scores": True})
        return [hit_of(collection, Row(**found["_source"]), float(found["_score"])) for found in reply["hits"]["hits"]]

    def _name(self, collection: str) -> str:
        return f"{self._prefix}-{collection.replace('.', '-')}".lower()

    def _ask(self, method: str, path: str, body: Any = None, *, missing_is_fine: bool = False) -> dict[str, Any]:
        lines = body if isinstance(body, list) else None
        data = None if body is None else "".join(json.dumps(line) + "\n" for line in (lines or [body])).encode()
        kind = "application/x-ndjson" if lines else "application/json"
        url = f"{self._base}/{path}"
        request = urllib.request.Request(url, data=data, method=method, headers={"Content-Type": kind})  # noqa: S310 http(s) by config
        try:
            with urllib.request.urlopen(request, timeout=self._seconds) as reply:  # noqa: S310 http(s) by config
                found: dict[str, Any] = json.loads(reply.read() or b"{}")
                return found
        except urllib.error.HTTPError as error:
            if error.code == 404 and missing_is_fine:
                return {}
            detail = error.read()[:300].decode("utf-8", "replace")
            raise DataError(f"{url}: the search server answered {error.code}: {detail}") from None
        except (OSError, ValueError) as error:
            raise DataError(f"{url}: no answer from the search server: {error}. Check index.uri in conf/corpus.") from None
