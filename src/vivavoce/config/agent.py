"""`conf/agent/*.yaml`: the code of an agent, its options, and what its rollouts need."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from vivavoce.config.base import Strict
from vivavoce.config.benchmark import Asset


class AgentConfig(Strict):
    """One agent. `options` are checked by the agent's own `Options` model.

    Answers made elsewhere come from `sources` (a pinned file a model label) or from `folder` (files
    `<benchmark>/<label>.*`): then the labels stand for models in the rows.
    """

    name: str
    run: str = Field(pattern=r"^[\w.]+:\w+$")
    options: dict[str, Any] = {}
    needs_model: bool = True
    reads_corpus: bool = False
    sources: dict[str, Asset] = {}
    folder: str = ""
