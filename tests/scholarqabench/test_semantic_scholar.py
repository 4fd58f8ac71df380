"""The optional network search against a scripted server: key, cache, rate limit and failures."""

from __future__ import annotations

import time
from itertools import pairwise
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from vivavoce.agents.base import Seat
from vivavoce.agents.openscholar import OpenScholar
from vivavoce.agents.openscholar.options import SemanticScholarOptions
from vivavoce.agents.openscholar.semantic_scholar import SemanticScholar, keywords, passages_of
from vivavoce.errors import ConfigError, ModelError
from vivavoce.models.chat import ChatReply
from vivavoce.records import Question

PAPERS = {
    "data": [
        {"paperId": "a", "title": "A", "abstract": "About a.", "citationCount": 5},
        {"paperId": "b", "title": "B", "abstract": "About b.", "citationCount": 50},
        {"paperId": "c", "title": "C", "abstract": None, "citationCount": 500},
    ]
}


class Scripted:
    """A server that gives each status of a list once, then papers."""

    def __init__(self, *statuses: int, body: object = PAPERS) -> None:
        self.statuses, self.body, self.requests = list(statuses), body, []

    async def __aenter__(self) -> Scripted:
        app = web.Application()
        app.router.add_get("/search", self._reply)
        self.server = TestServer(app)
        await self.server.start_server()
        self.url = str(self.server.make_url("/search"))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.server.close()

    async def _reply(self, request: web.Request) -> web.Response:
        self.requests.append((dict(request.query), request.headers.get("x-api-key"), time.monotonic()))
        if self.statuses:
            return web.Response(status=self.statuses.pop(0), headers={"Retry-After": "0"})
        return web.json_response(self.body)

    def searcher(self, **options) -> SemanticScholar:
        return SemanticScholar(SemanticScholarOptions(url=self.url, **{"seconds": 0.0, **options}))


async def test_papers_with_abstracts_most_cited_first(monkeypatch):
    monkeypatch.setenv("MY_KEY", "secret")
    async with Scripted() as server:
        found = await server.searcher(key_env="MY_KEY").search("What is the effect of moss?", 5)
        assert [(item.id, item.title, item.text) for item in found] == [("b", "B", "About b."), ("a", "A", "About a.")]
        query, key, _ = server.requests[0]
        assert (query["query"], query["minCitationCount"], key) == ("effect moss", "10", "secret")


async def test_replies_are_kept_by_query(tmp_path: Path):
    async with Scripted() as server:
        for _ in range(2):
            assert len(await server.searcher(cache=str(tmp_path)).search("moss", 1)) == 1
        await server.searcher(cache=str(tmp_path)).search("lichen", 1)
        assert len(server.requests) == 2
        assert len(list(tmp_path.glob("*.json"))) == 2


async def test_requests_keep_their_distance():
    async with Scripted() as server:
        searcher = server.searcher(seconds=0.15)
        for query in ("a1", "b1", "c1"):
            await searcher.search(query, 1)
        times = [moment for *_, moment in server.requests]
        assert min(later - earlier for earlier, later in pairwise(times)) >= 0.14


async def test_a_busy_server_is_asked_again():
    async with Scripted(429, 503) as server:
        assert len(await server.searcher().search("moss", 5)) == 2
        assert len(server.requests) == 3


@pytest.mark.parametrize(("statuses", "asked"), [((403,), 1), ((500, 500, 500), 3)])
async def test_no_reply_ends_the_question_and_is_not_kept(statuses, asked, tmp_path):
    async with Scripted(*statuses) as server:
        with pytest.raises(ModelError, match="gave no reply to 'moss': HTTP"):
            await server.searcher(retries=2, cache=str(tmp_path)).search("moss", 5)
        assert len(server.requests) == asked
        assert list(tmp_path.iterdir()) == []


async def test_the_agent_shows_what_was_found():
    class Model:
        name, native_tools = "m", False

        async def chat(self, request, *, sample=0):
            return ChatReply(text="So it is [0].")

    async with Scripted() as server:
        options = {"retrieval": "semantic_scholar", "semantic_scholar": {"url": server.url, "seconds": 0}}
        question = Question(id="q", benchmark="b", task="long_form", text="Why does moss grow?")
        rollout = await OpenScholar("mine", options).answer(question, Seat(model=Model()))
        assert [passage.id for passage in rollout.contexts] == ["b", "a"]


def test_a_missing_key_is_named(monkeypatch):
    monkeypatch.delenv("MY_KEY", raising=False)
    with pytest.raises(ConfigError, match="MY_KEY is not set"):
        SemanticScholar(SemanticScholarOptions(key_env="MY_KEY"))


@pytest.mark.parametrize("found", [None, [], {}, {"data": None}, {"data": [1, {"paperId": "x"}]}])
def test_strange_replies_have_no_papers(found):
    assert passages_of(found) == []


def test_keywords_of_a_question():
    assert keywords("What are the effects of X-ray dose?") == "effects X-ray dose"
    assert keywords("why?") == "why?"
