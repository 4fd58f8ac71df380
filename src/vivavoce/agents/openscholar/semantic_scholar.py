"""Keyword search of Semantic Scholar: the one step that needs the network. Off unless an agent file asks for it.

Source: OpenScholar's retrieval (spec/scholarqabench.md 7.2): top papers of a keyword query that are cited at least ten
times. Replies are kept in files named by the digest of the query, so that a run can be repeated without the network.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vivavoce.agents.openscholar.options import SemanticScholarOptions
from vivavoce.errors import ConfigError, ModelError
from vivavoce.files import digest, write_json
from vivavoce.records import Passage

FIELDS = "paperId,title,abstract,year,citationCount"
_STOP = frozenset(
    (
        "a", "an", "and", "are", "as", "at", "be", "best", "between", "by", "can", "could", "did", "do", "does", "for",
        "from", "has", "have", "how", "in", "is", "it", "its", "most", "of", "on", "or", "should", "that", "the",
        "their", "they", "this", "to", "was", "were", "what", "when", "where", "which", "who", "why", "will", "with",
        "would",
    )
)  # fmt: skip
_PAUSE = 60.0  # seconds: the longest wait that a server may ask for


class SemanticScholar:
    """One searcher a process: its requests go out one after another, `seconds` apart at least."""

    def __init__(self, options: SemanticScholarOptions) -> None:
        self.options = options
        self._key = os.environ.get(options.key_env, "") if options.key_env else ""
        if options.key_env and not self._key:
            raise ConfigError(f"semantic_scholar: the environment variable {options.key_env} is not set; set it to your key.")
        self._gate = asyncio.Lock()
        self._next = 0.0

    async def search(self, query: str, limit: int) -> list[Passage]:
        """Abstracts of at most `limit` papers, most cited first. ModelError when no reply can be had."""
        asked = {
            "query": keywords(query),
            "limit": 3 * limit,
            "min_citations": self.options.min_citations,
            "url": self.options.url,
        }
        path = Path(self.options.cache) / f"{digest(asked)}.json" if self.options.cache else None
        if path is not None and path.is_file():
            found = json.loads(path.read_text(encoding="utf-8"))
        else:
            found = await self._fetch(asked)
            if path is not None:
                write_json(path, found)
        return passages_of(found)[:limit]

    async def _fetch(self, asked: Mapping[str, Any]) -> Any:
        import aiohttp

        parameters = {"query": asked["query"], "limit": str(asked["limit"]), "fields": FIELDS}
        if asked["min_citations"]:
            parameters["minCitationCount"] = str(asked["min_citations"])
        headers = {"x-api-key": self._key} if self._key else {}
        problem = ""
        async with self._gate, aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=self.options.timeout)) as session:
            for attempt in range(self.options.retries + 1):
                await self._wait()
                pause = min(_PAUSE, self.options.seconds * 2**attempt)
                try:
                    async with session.get(self.options.url, params=parameters, headers=headers) as reply:
                        if reply.status == 200:
                            return await reply.json(content_type=None)
                        problem = f"HTTP {reply.status}"
                        if reply.status not in (429, 500, 502, 503, 504):
                            break
                        pause = min(_PAUSE, max(pause, _seconds(reply.headers.get("Retry-After", ""))))
                except (aiohttp.ClientError, TimeoutError, ValueError) as error:
                    problem = f"{type(error).__name__}: {error}"
                self._next = asyncio.get_running_loop().time() + pause
        raise ModelError(
            f"Semantic Scholar gave no reply to {asked['query']!r}: {problem}. Try again later, or set a key (key_env)."
        )

    async def _wait(self) -> None:
        clock = asyncio.get_running_loop().time
        if (left := self._next - clock()) > 0:
            await asyncio.sleep(left)
        self._next = clock() + self.options.seconds


def keywords(question: str) -> str:
    """A question as keywords: its words without punctuation and question words, at most twelve."""
    words = [word for word in re.findall(r"[\w-]+", question) if word.lower() not in _STOP]
    return " ".join(words[:12]) or question


def passages_of(found: Any) -> list[Passage]:
    """The papers of a reply that have an abstract, most cited first, ties by id; a reply of another form has none."""
    papers = found.get("data") if isinstance(found, dict) else None
    known = [paper for paper in papers or () if isinstance(paper, dict) and paper.get("abstract") and paper.get("paperId")]
    known.sort(key=lambda paper: (-int(paper.get("citationCount") or 0), str(paper["paperId"])))
    return [
        Passage(
            id=str(item["paperId"]), title=str(item.get("title") or ""), text=str(item["abstract"]), paper=str(item["paperId"])
        )
        for item in known
    ]


def _seconds(text: str) -> float:
    return float(text) if re.fullmatch(r"\d{1,4}", text) else 0.0
