"""What an agent with tools has before it: the actions on offer, the toolbox, and what the prompt says of the corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import msgspec
from pydantic import Field

from vivavoce.agents.base import Seat
from vivavoce.agents.options import Options
from vivavoce.agents.session import CITED_TASKS, venues
from vivavoce.corpus.base import Library, SearchMode
from vivavoce.models.action_text import Syntax
from vivavoce.records import Question
from vivavoce.tools.actions import ACTIONS, FINAL, SPACES, Space
from vivavoce.tools.database import Database
from vivavoce.tools.describe import KINDS, describe_database, describe_vectorstore, examples
from vivavoce.tools.observe import Caps
from vivavoce.tools.toolbox import Toolbox


class DeskOptions(Options):
    """The environment of an agent with tools.

    `images`: whether ViewImage is offered (`auto`: where the model's configuration says that it sees images).
    `titles` adds the paper's title to search results, which the published environment does not.
    """

    space: Space = "hybrid"
    syntax: Syntax = "markdown"
    parsing: Literal["corrected", "as_published"] = "corrected"
    images: Literal["auto", "always", "never"] = "auto"
    titles: bool = False
    rows: int = Field(default=10, ge=1, description="rows of an observation")
    observation_tokens: int = Field(default=5000, ge=10, description="tokens of an observation")
    search_mode: SearchMode = Field(default="embedding", description="of ClassicRetrieve")
    sql_seconds: float = Field(default=20.0, gt=0, description="time of a query; upstream waits 600")
    sql_megabytes: int = Field(default=512, ge=64, description="memory of a query")


class Desk(msgspec.Struct, frozen=True, kw_only=True):
    """`values` are what every prompt of the agent may use, `fields` what the offline baseline reads."""

    names: tuple[str, ...]
    toolbox: Toolbox | None
    cite: bool
    values: dict[str, Any]
    fields: dict[str, Any]


class Desks:
    """Sets up desks; keeps one locked database a corpus."""

    def __init__(self, options: DeskOptions) -> None:
        self._options = options
        self._databases: dict[Path, Database] = {}

    async def set_up(self, question: Question, seat: Seat, *, native: bool = False, turn_cap: int = 0) -> Desk:
        """The desk for one question. Without a corpus only arithmetic and the answer are on offer."""
        options, library = self._options, seat.corpus
        names = tuple(name for name in SPACES[options.space] if self._offered(name, seat))
        cite = question.task in CITED_TASKS
        database = self._database(library) if library is not None and "RetrieveFromDatabase" in names else None
        columns = await database.columns() if database is not None else ()
        indexed = sorted(library.columns()) if library is not None and "RetrieveFromVectorstore" in names else []
        toolbox = None
        if library is not None:
            toolbox = Toolbox(
                library,
                database,
                papers=question.papers,
                caps=Caps(rows=options.rows, tokens=options.observation_tokens),
                classic_mode=options.search_mode,
                cite=cite,
                titles=options.titles,
            )
        values = {
            "question": question.text,
            "answer_format": question.answer_format,
            "task": question.task,
            "papers": question.papers,
            "venues": venues(question),
            "actions": [ACTIONS[name] for name in names],
            "kinds": KINDS,
            "examples": examples(names, options.syntax),
            "syntax": options.syntax,
            "native": native,
            "cite": cite,
            "turn_cap": turn_cap,
            "symbolic": "RetrieveFromDatabase" in names,
            "neural": any(name in names for name in ("RetrieveFromVectorstore", "ClassicRetrieve")),
            "database": describe_database(columns) if columns else "",
            "vectorstore": describe_vectorstore(indexed) if indexed else "",
        }
        tables: dict[str, list[str]] = {}
        for column in columns:
            tables.setdefault(column.table, []).append(column.name)
        fields = {
            "actions": list(names),
            "syntax": options.syntax,
            "native": native,
            "cite": cite,
            "titles": options.titles,
            "turn_cap": turn_cap,
            "tables": tables,
            "indexed": [list(pair) for pair in indexed],
        }
        return Desk(names=names, toolbox=toolbox, cite=cite, values=values, fields=fields)

    def _offered(self, name: str, seat: Seat) -> bool:
        if name in (FINAL, "CalculateExpr"):
            return True
        if seat.corpus is None:
            return False
        if name == "ViewImage":
            return self._options.images == "always" or (self._options.images == "auto" and sees_images(seat.model))
        return True

    def _database(self, library: Library) -> Database:
        path = library.database
        if path not in self._databases:
            self._databases[path] = Database(path, seconds=self._options.sql_seconds, megabytes=self._options.sql_megabytes)
        return self._databases[path]


def sees_images(model: Any) -> bool:
    """Whether a model says that it takes images: by an attribute `images`, of its own or of its configuration."""
    return bool(getattr(model, "images", getattr(getattr(model, "config", None), "images", False)))
