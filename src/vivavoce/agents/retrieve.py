"""Retrieval baselines: the question is the query, and the title of the best paper is the answer. No model is called.

`lexical` is BM25, `embedding` all-MiniLM-L6-v2, `hybrid` their reciprocal rank fusion. `Rollout.extra` holds `ranked_titles`
and `ranked_papers` (ids), best first, so that recall at a depth can be measured.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field

from vivavoce.agents.base import Seat
from vivavoce.agents.options import Options, read_options
from vivavoce.corpus.base import Library, SearchMode
from vivavoce.errors import ConfigError
from vivavoce.records import Passage, Question, Rollout, Turn

_VENUE = re.compile(r"^([a-z]+)(\d{4})?$")


class RetrieveOptions(Options):
    """`venues_only` searches only papers of the venues that the question names; ten published questions name a wrong one."""

    mode: SearchMode = Field(default="hybrid", description="lexical, embedding or hybrid")
    table: str = Field(default="metadata", description="the indexed table")
    column: str = Field(default="title_abstract", description="the indexed column")
    depth: int = Field(default=20, ge=1, description="papers ranked")
    venues_only: bool = False


class Retrieve:
    """Ranks papers for a question. Needs a corpus."""

    Options: ClassVar[type[RetrieveOptions]] = RetrieveOptions

    def __init__(self, name: str, options: Mapping[str, Any] | RetrieveOptions) -> None:
        self._name = name
        self.options = read_options(self.Options, options, name)

    @property
    def name(self) -> str:
        return self._name

    async def answer(self, question: Question, seat: Seat) -> Rollout:
        """The title of the best paper; `invalid` when nothing is found."""
        if seat.corpus is None:
            raise ConfigError(f"agent {self._name} searches papers, but benchmark {question.benchmark} has no corpus.")
        chosen = self.options
        within = _within(seat.corpus, question) if chosen.venues_only else ()
        ranked = _ranked(seat.corpus, question.text, chosen, within)
        titles = [passage.title for passage in ranked]
        arguments = {
            "query": question.text,
            "mode": chosen.mode,
            "column": f"{chosen.table}.{chosen.column}",
            "limit": chosen.depth,
        }
        turn = Turn(action="Search", arguments=arguments, observation="\n".join(titles))
        return Rollout(
            question_id=question.id,
            agent=self._name,
            model=seat.model.name,
            seed=seat.seed,
            outcome="answered" if ranked else "invalid",
            answer=titles[0] if ranked else None,
            reason="" if ranked else "the search found no paper",
            turns=(turn,),
            contexts=tuple(ranked[:1]),
            extra={"ranked_titles": titles, "ranked_papers": [passage.paper for passage in ranked]},
        )


def _ranked(corpus: Library, query: str, chosen: RetrieveOptions, within: tuple[str, ...]) -> list[Passage]:
    """Each paper once, in the place of its best row."""
    rows = chosen.depth if chosen.table == "metadata" else 10 * chosen.depth
    hits = corpus.search(query, mode=chosen.mode, table=chosen.table, column=chosen.column, papers=within, limit=rows)
    best: dict[str, Passage] = {}
    for hit in hits:
        if hit.paper not in best:
            best[hit.paper] = Passage(id=hit.key, text=hit.text, title=corpus.paper(hit.paper).title, paper=hit.paper)
    return list(best.values())[: chosen.depth]


def _within(corpus: Library, question: Question) -> tuple[str, ...]:
    """The papers of the venues that a question names, such as `acl2023`; all papers where it names none that the corpus
    holds.
    """
    matches = [match for venue in _venues(question) if (match := _VENUE.match(venue))]
    named = {(match[1], int(match[2]) if match[2] else None) for match in matches}
    return tuple(p.id for p in corpus.papers() if (p.venue, p.year) in named or (p.venue, None) in named)


def _venues(question: Question) -> list[str]:
    named = question.extra.get("conference") or []
    return [str(venue).lower() for venue in ([named] if isinstance(named, str) else named)]
