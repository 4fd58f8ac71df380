"""Downloads are polite, resumed, noted, and one that fails stops no other."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest_asyncio
from aiohttp import web

from vivavoce.corpus.catalogue import Entry
from vivavoce.corpus.download import DownloadSettings, download

CONTENT = b"%PDF-1.4 " + bytes(range(256)) * 400
QUICK = DownloadSettings(delay_seconds=0, retries=2, seconds=5)


class Publisher:
    """Serves PDFs with ranges, and misbehaves on request."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.busy = 0
        self.most = 0
        self.url = ""

    async def serve(self, request: web.Request) -> web.StreamResponse:
        import asyncio

        name = request.match_info["name"]
        spent = sum(item["name"] == name for item in self.requests)
        self.requests.append({"name": name, "range": request.headers.get("Range"), "agent": request.headers["User-Agent"]})
        self.busy += 1
        self.most = max(self.most, self.busy)
        await asyncio.sleep(0.02)
        self.busy -= 1
        if name == "flaky" and not spent:
            return web.Response(status=503, headers={"Retry-After": "0"})
        if name == "gone":
            return web.Response(status=404)
        if name == "page":
            return web.Response(text="<html>Please log in</html>")
        if name == "cut" and not spent:
            reply = web.StreamResponse(headers={"Content-Length": str(len(CONTENT))})
            await reply.prepare(request)
            await reply.write(CONTENT[:50000])
            assert request.transport
            request.transport.close()
            return reply
        start = int(request.headers["Range"][6:-1]) if "Range" in request.headers else 0
        return web.Response(status=206 if start else 200, body=CONTENT[start:])


@pytest_asyncio.fixture
async def publisher() -> AsyncIterator[Publisher]:
    found = Publisher()
    app = web.Application()
    app.router.add_get("/{name}", found.serve)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    found.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield found
    await runner.cleanup()


def entries(publisher: Publisher, *names: str) -> list[Entry]:
    return [Entry(id=name, title=name, pdf_url=f"{publisher.url}/{name}") for name in names]


async def test_files_are_kept_and_noted(publisher: Publisher, tmp_path: Path) -> None:
    assert await download(entries(publisher, "a", "b"), tmp_path, QUICK) == []
    assert (tmp_path / "a.pdf").read_bytes() == (tmp_path / "b.pdf").read_bytes() == CONTENT
    note = json.loads((tmp_path / "downloads.json").read_text())["a"]
    assert note["bytes"] == len(CONTENT)
    assert note["licence"].startswith("unknown")
    assert all("vivavoce" in request["agent"] for request in publisher.requests)


async def test_a_second_run_asks_for_nothing(publisher: Publisher, tmp_path: Path) -> None:
    await download(entries(publisher, "a", "b"), tmp_path, QUICK)
    (tmp_path / "b.pdf").write_bytes(b"damaged")
    publisher.requests.clear()
    await download(entries(publisher, "a", "b"), tmp_path, QUICK)
    assert [request["name"] for request in publisher.requests] == ["b"]
    assert (tmp_path / "b.pdf").read_bytes() == CONTENT


async def test_a_broken_transfer_is_resumed(publisher: Publisher, tmp_path: Path) -> None:
    assert await download(entries(publisher, "cut"), tmp_path, QUICK) == []
    first, second = publisher.requests
    assert first["range"] is None
    assert second["range"] is not None
    assert (tmp_path / "cut.pdf").read_bytes() == CONTENT


async def test_a_busy_server_is_asked_again(publisher: Publisher, tmp_path: Path) -> None:
    assert await download(entries(publisher, "flaky"), tmp_path, QUICK) == []
    assert len(publisher.requests) == 2


async def test_failures_are_named_and_stop_no_other(publisher: Publisher, tmp_path: Path) -> None:
    wanted = [*entries(publisher, "page", "gone", "good"), Entry(id="file", title="x", pdf_url="file:///etc/passwd")]
    failures = await download(wanted, tmp_path, QUICK)
    assert [(failure.paper, failure.reason) for failure in failures] == [
        ("file", "not an http(s) URL"),
        ("gone", "the server answered 404"),
        ("page", "what came is no PDF (a page of the publisher?)"),
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["downloads.json", "good.pdf"]


async def test_a_host_is_not_crowded(publisher: Publisher, tmp_path: Path) -> None:
    names = [f"n{number}" for number in range(9)]
    assert await download(entries(publisher, *names), tmp_path, QUICK.model_copy(update={"per_host": 2})) == []
    assert publisher.most <= 2


async def test_a_huge_file_is_refused(publisher: Publisher, tmp_path: Path) -> None:
    (failure,) = await download(entries(publisher, "a"), tmp_path, QUICK.model_copy(update={"largest_bytes": 1000}))
    assert "larger than 1000 bytes" in failure.reason
