"""Running an action: from a name and arguments to an observation. Never raises for what an agent asked."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from vivavoce.corpus.base import Hit, Library, SearchMode
from vivavoce.errors import DataError
from vivavoce.files import digest
from vivavoce.models.chat import Image
from vivavoce.records import Passage
from vivavoce.tools.calculate import calculate
from vivavoce.tools.database import Database
from vivavoce.tools.errors import ActionError, ActionTimeoutError
from vivavoce.tools.observe import Caps, Observation, failed, rows_as_text
from vivavoce.tools.parse import check_arguments
from vivavoce.tools.search import classic_search, hit_passage, hit_rows, vector_search
from vivavoce.tools.tokens import cut


class Toolbox:
    """The tools at one seat: a corpus, its database, the papers that the question is about, and what is shown.

    `cite` numbers each row as a passage that the answer may cite, counting on from the passages already shown;
    `titles` adds the paper's title to search results.
    """

    def __init__(
        self,
        library: Library,
        database: Database | None,
        *,
        papers: Sequence[str] = (),
        caps: Caps | None = None,
        classic_mode: SearchMode = "embedding",
        cite: bool = False,
        titles: bool = False,
    ) -> None:
        self._library, self._database, self._papers = library, database, papers
        self._caps, self._classic_mode, self._cite, self._titles = caps or Caps(), classic_mode, cite, titles

    async def run(self, action: str, arguments: Mapping[str, Any], shown: Sequence[Passage] = ()) -> Observation:
        """Run one action. `shown` are the passages shown before: numbering goes on from them, a known one keeps its number."""
        try:
            return await self._run(action, arguments, shown)
        except ActionTimeoutError as error:
            return failed("TimeoutError", str(error))
        except ActionError as error:
            where = " during SQL execution" if action == "RetrieveFromDatabase" else ""
            return failed("Error", f"{action} failed{where}: {error}")

    async def _run(self, action: str, arguments: Mapping[str, Any], shown: Sequence[Passage]) -> Observation:
        checked = check_arguments(action, [], {key: arguments[key] for key in arguments if key != "output_fields"})
        if checked.error:  # the published parsing lets wrong types through
            raise ActionError(checked.error)
        arguments = checked.arguments
        match action:
            case "RetrieveFromDatabase":
                return await self._select(arguments["sql"], shown)
            case "RetrieveFromVectorstore":
                return self._hits(vector_search(self._library, arguments), shown)
            case "ClassicRetrieve":
                hits = classic_search(self._library, arguments["query"], arguments["limit"], self._papers, self._classic_mode)
                return self._hits(hits, shown)
            case "CalculateExpr":
                return arithmetic(arguments)
            case "ViewImage":
                return self._view(arguments["paper_id"], arguments["page_number"], arguments["bounding_box"])
        raise ActionError("there is no such action")

    async def _select(self, sql: str, shown: Sequence[Passage]) -> Observation:
        if self._database is None:
            raise ActionError("this corpus has no database")
        result = await self._database.select(sql, rows=self._caps.rows)
        rows = [dict(zip(_distinct(result.columns), row, strict=True)) for row in result.rows]
        if not rows:
            return Observation(text="[Warning]: The SQL result is empty; check the conditions of the query.")
        passages = [_row_passage(row) for row in rows]
        return self._observe(rows, passages, shown, more=result.more)

    def _hits(self, hits: Sequence[Hit], shown: Sequence[Passage]) -> Observation:
        if not hits:
            return Observation(text="[Warning]: The search found nothing; check the filter and the query.")
        passages = [hit_passage(hit, self._library) for hit in hits]
        rows = hit_rows(hits)
        if self._titles:
            rows = [{**row, "title": passage.title} for row, passage in zip(rows, passages, strict=True)]
        return self._observe(rows, passages, shown)

    def _observe(
        self, rows: Sequence[Mapping[str, Any]], passages: Sequence[Passage], shown: Sequence[Passage], *, more: bool = False
    ) -> Observation:
        number = {passage.id: place for place, passage in reversed(list(enumerate(shown)))}
        fresh: list[Passage] = []
        for passage in passages:
            if passage.id not in number:
                number[passage.id] = len(shown) + len(fresh)
                fresh.append(passage)
        if self._cite:
            rows = [{"passage": number[passage.id], **row} for row, passage in zip(rows, passages, strict=True)]
        text, count = rows_as_text(rows, self._caps, more=more)
        visible = {passage.id for passage in passages[:count]}
        cuts = [msgspec.structs.replace(item, text=cut(item.text, self._caps.tokens)) for item in fresh if item.id in visible]
        return Observation(text=text, passages=tuple(cuts))

    def _view(self, paper: str, page: int, box: Sequence[float]) -> Observation:
        try:
            pages = self._library.paper(paper).num_pages
            if page < 1 or (pages and page > pages):
                raise ActionError(f"the paper has pages 1 to {pages}, not {page}")
            image = self._library.page_image(paper, page, tuple(box))
        except DataError as error:
            raise ActionError(str(error)) from None
        region = f", region {list(box)}" if box else ""
        text = f"The image of page {page} of {paper}{region} is shown."
        return Observation(text=text, images=(Image(base64=base64.b64encode(image).decode()),))


def arithmetic(arguments: Mapping[str, Any]) -> Observation:
    """CalculateExpr, which needs no corpus."""
    try:
        return Observation(text=f"The calculated result is: {calculate(str(arguments.get('expr', '')))}")
    except ActionError as error:
        return failed("Error", f"CalculateExpr failed: {error}")


def _distinct(columns: Sequence[str]) -> list[str]:
    """Column names with repeated ones numbered, since a row is shown as a JSON object."""
    seen: dict[str, int] = {}
    names = []
    for column in columns:
        seen[column] = seen.get(column, 0) + 1
        names.append(column if seen[column] == 1 else f"{column}_{seen[column]}")
    return names


def _row_passage(row: Mapping[str, Any]) -> Passage:
    """A row of an SQL result as a passage: its values, and an id that equal rows share."""
    text = " | ".join(str(value) for value in row.values() if value is not None)
    return Passage(id=f"sql:{digest(text)[:16]}", text=text, paper=str(row.get("ref_paper_id") or row.get("paper_id") or ""))
