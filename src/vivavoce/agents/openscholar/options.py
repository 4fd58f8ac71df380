"""Options of the OpenScholar agent: each ablation of the paper is a choice here."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from vivavoce.agents.options import Options
from vivavoce.config.base import Frozen
from vivavoce.corpus.base import SearchMode


class SemanticScholarOptions(Frozen):
    """Keyword search over the network. `key_env` names the environment variable that holds the key ("": none is sent).

    `cache` is a folder of replies, one file a query; `seconds` the least time between two requests.
    """

    url: str = "https://api.semanticscholar.org/graph/v1/paper/search"
    key_env: str = ""
    cache: str = ""
    seconds: float = Field(default=1.0, ge=0)
    timeout: float = Field(default=30.0, gt=0)
    retries: int = Field(default=4, ge=0)
    min_citations: int = Field(default=10, ge=0)


class OpenScholarOptions(Options):
    """`retrieval`: where the first passages come from; passages that come with a question are `given`.

    `corpus` searches the corpus (and takes what is given where there is none), `predictions` reads `ctxs` from the file
    `contexts_file`, `semantic_scholar` asks the network. `shots`: `paper` shows one demonstration for claims and yes-or-no
    questions and none elsewhere. `feedback`: at most so many remarks are worked in; an edit is kept if it has more than
    `accept_ratio` of the characters before it; one-word answers get none. `further`: passages added per question that
    feedback raises. `posthoc`: which lines are offered to the attribution step (`every_line` as published).
    """

    retrieval: Literal["none", "given", "corpus", "predictions", "semantic_scholar"] = "given"
    contexts_file: str = ""
    mode: SearchMode = "hybrid"
    top_n: int = Field(default=10, ge=1, description="passages shown for questions over many papers")
    top_n_single: int = Field(default=5, ge=1, description="passages shown for claims, yes-or-no and single-paper questions")
    shots: Literal["paper", 0, 1] = "paper"
    markers: bool = True
    feedback: int = Field(default=0, ge=0, le=3)
    accept_ratio: float = Field(default=0.9, ge=0)
    further: int = Field(default=5, ge=0)
    posthoc: Literal["none", "uncited", "every_line"] = "none"
    semantic_scholar: SemanticScholarOptions | None = None
    answer_tokens: int = Field(default=3000, ge=16)
    feedback_tokens: int = Field(default=2000, ge=16)
    posthoc_tokens: int = Field(default=1000, ge=16)

    @model_validator(mode="after")
    def _sources_are_named(self) -> OpenScholarOptions:
        if self.retrieval == "predictions" and not self.contexts_file:
            raise ValueError("retrieval: predictions needs contexts_file, a predictions file with ctxs")
        if self.retrieval == "semantic_scholar" and self.semantic_scholar is None:
            raise ValueError("retrieval: semantic_scholar needs the block semantic_scholar")
        return self
