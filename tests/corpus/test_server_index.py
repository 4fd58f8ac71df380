"""The index on a search server: what is sent over HTTP, against a stub that keeps documents and answers as OpenSearch does."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from vivavoce.corpus.index import Row, open_index
from vivavoce.corpus.server_index import ServerIndex
from vivavoce.errors import DataError

ROWS = [Row(key="k2", paper="p1", text="bats call", page=3), Row(key="k1", paper="p2", text="rivers flow")]
VECTORS = np.array([[1, 0], [0, 1]], dtype=np.float32)
ALL = "chunks.text_content"


class Stub(BaseHTTPRequestHandler):
    """Indices by name; `match` is a shared word, `knn` an exact cosine."""

    indices: dict[str, dict[str, Any]]

    def handle_request(self) -> None:
        text = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        name, _, action = self.path.lstrip("/").partition("/")
        status, reply = 200, {}
        if self.command == "DELETE":
            status = 200 if self.indices.pop(name, None) else 404
        elif self.command == "PUT":
            self.indices[name] = {"mappings": json.loads(text)["mappings"]["properties"], "rows": {}}
        elif action == "_bulk":
            lines = [json.loads(line) for line in text.splitlines()]
            for head, row in zip(lines[::2], lines[1::2], strict=True):
                self.indices[name]["rows"][head["index"]["_id"]] = row
        elif action == "_search" and name in self.indices:
            reply = {"hits": {"hits": found(self.indices[name]["rows"].values(), json.loads(text))}}
        elif name not in self.indices:
            status = 404
        content = json.dumps(reply).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_PUT = do_DELETE = handle_request

    def log_message(self, *args: Any) -> None:
        pass


def found(rows: Any, body: dict[str, Any]) -> list[dict[str, Any]]:
    query = body["query"]
    if "bool" in query:
        wanted = set(query["bool"]["must"][0]["match"]["text"].split())
        scores = [(len(wanted & set(row["text"].split())), row) for row in rows]
        filters = query["bool"].get("filter", [])
    else:
        near = query["knn"]["vector"]
        scores = [(float(np.dot(near["vector"], row["vector"])), row) for row in rows]
        filters = [near["filter"]] if "filter" in near else []
    papers = [paper for item in filters for paper in item["terms"]["paper"]]
    kept = [(score, row) for score, row in scores if score > 0 and (not papers or row["paper"] in papers)]
    kept.sort(key=lambda item: (-item[0], item[1]["key"]))
    return [{"_score": score, "_source": {f: row[f] for f in body["_source"]}} for score, row in kept[: body["size"]]]


@pytest.fixture
def uri() -> Iterator[str]:
    handler = type("Fresh", (Stub,), {"indices": {}})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/papers"
    server.shutdown()
    server.server_close()


def test_rows_come_back(uri: str, tmp_path: Any) -> None:
    index = open_index(f"opensearch+{uri}", tmp_path)
    index.write(ALL, ROWS, VECTORS)
    (hit,) = index.words(ALL, "where bats live", (), 5)
    assert (hit.key, hit.paper, hit.page, hit.text, hit.table, hit.column) == (
        "k2",
        "p1",
        3,
        "bats call",
        "chunks",
        "text_content",
    )
    assert [h.key for h in index.meaning(ALL, np.array([0.6, 0.8], dtype=np.float32), (), 5)] == ["k1", "k2"]
    assert [h.key for h in index.meaning(ALL, np.array([0.6, 0.8], dtype=np.float32), ["p1"], 5)] == ["k2"]
    assert index.words(ALL, "bats", ["p2"], 5) == []


def test_writing_again_replaces(uri: str) -> None:
    index = ServerIndex(uri)
    index.write(ALL, ROWS, VECTORS)
    index.write(ALL, ROWS[:1], None)
    assert [hit.key for hit in index.words(ALL, "bats rivers", (), 5)] == ["k2"]


def test_a_missing_collection_and_a_dead_server_are_named(uri: str) -> None:
    with pytest.raises(DataError, match=r"papers-chunks-text_content.* answered 404"):
        ServerIndex(uri).words(ALL, "bats", (), 5)
    with pytest.raises(DataError, match=r"no answer.*index\.uri"):
        ServerIndex("http://127.0.0.1:9/papers", seconds=2).words(ALL, "bats", (), 5)
