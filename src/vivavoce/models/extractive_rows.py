"""How the offline baseline reads rows of the metadata table out of observations."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any


def rows_seen(history: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The JSON rows of all observations, the newest action's first."""
    rows = []
    for turn in reversed(history):
        for line in str(turn.get("observation", "")).splitlines():
            if line.startswith("{"):
                try:
                    row = json.loads(line)
                except ValueError:  # a row that was cut
                    continue
                if isinstance(row, dict):
                    rows.append(row)
    return rows


def from_rows(question: str, shape: str, rows: Sequence[Mapping[str, Any]]) -> Any:
    """What the metadata say on authors, venue, year, pages or title, in the shape asked for; None where they say nothing."""
    lower = question.lower()
    titles = [str(row["title"]) for row in rows if row.get("title")]
    found = [str(row["text"]) for row in rows if row.get("column_name") == "title"]
    found += [str(row["text"]).split("\n")[0] for row in rows if row.get("column_name") == "title_abstract"]
    if shape == "title" and (found or titles):
        return (found or titles)[0]
    known = [row for row in rows if "authors" in row]
    if not known:
        return None
    people = [list(row["authors"] or []) for row in known]
    if "author" in lower and people[0]:
        if shape == "integer":
            return len(people[0])
        if shape == "list":
            shared = [name for name in people[0] if all(name in other for other in people[1:])]
            return shared or people[0]
        place = -1 if "last author" in lower else 0
        both = [name for name in people[0] if len(people) > 1 and name in people[1]]
        return (both or [people[0][place]])[0] if shape == "name" else None
    if shape == "integer" and "year" in lower and "publish" in lower and known[0].get("pub_year"):
        return int(known[0]["pub_year"])
    if shape == "integer" and "pages" in lower and known[0].get("num_pages"):
        return int(known[0]["num_pages"])
    if shape == "name" and re.search(r"venue|conference|journal|workshop", lower):
        key = "conference_full" if "full" in lower or not known[0].get("conference_abbreviation") else "conference_abbreviation"
        return known[0].get(key)
    return None
