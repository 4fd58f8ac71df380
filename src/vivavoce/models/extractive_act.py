"""How the offline baseline acts: a fixed strategy over a few turns with the very actions that are on offer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from vivavoce.models.extractive_answer import answer, shape_of
from vivavoce.models.extractive_spans import numbers
from vivavoce.models.extractive_text import rank, words

Step = tuple[str, str, dict[str, Any]]  # thought, action, arguments

_PLACES = (
    ("metadata", r"\bauthors?\b|affiliat|e-?mail|\bvenue\b|\bconference\b|\bjournal\b|\bpublished\b|\bhow many pages\b"),
    ("images", r"\bfigure\b|\bchart\b|\bcurves?\b|\bplot\b"),
    ("tables", r"\btable\b|\baccurac|\bscore\b|\brate\b|\bhighest\b|\blowest\b|\bpercent"),
    ("equations", r"\bequation\b|\bformula\b|\blatex\b"),
    ("reference", r"\breferences?\b|\bcites?\b|\bcited\b|\bbibliograph"),
)
_COLUMN = {
    "metadata": "abstract",
    "images": "image_caption",
    "tables": "table_content",
    "equations": "equation_content",
    "reference": "reference_content",
    "chunks": "text_content",
}
_CAPTION = {"tables": "table_caption"}
_COMPARES = re.compile(r"\bdifference\b|\bhow (?:many|much) (?:more|fewer|less)\b|\bexceed|\bdrop\b|\blarger than\b", re.I)


def next_action(fields: Mapping[str, Any]) -> Step:
    """The next step: searches first (at most three, one less than the cap), then perhaps arithmetic, then the answer."""
    history, offered = fields["history"], fields["actions"]
    taken = [turn.get("action", "") for turn in history]
    room = (fields.get("turn_cap") or 99) - len(history)
    if room > 1 or "GenerateAnswer" not in offered:
        searches = _searches(fields)
        done = sum(name.startswith(("Retrieve", "Classic")) or not name for name in taken)
        if done < min(3, len(searches)):
            step: Step = searches[done]
            return step
        computed = _arithmetic(fields) if "CalculateExpr" in offered and "CalculateExpr" not in taken else None
        if computed:
            return computed
    return (
        "What was found is the best there is; now the answer in the format asked for.",
        "GenerateAnswer",
        {"answer": answer(fields)},
    )


def _searches(fields: Mapping[str, Any]) -> list[Step]:
    offered, papers = fields["actions"], fields["papers"]
    if not papers and shape_of(fields["answer_format"], fields["question"]) in ("title", "list", "name"):
        found = _paper_searches(fields)
        if found:
            return found
    lower = f"{fields['question']} {fields['answer_format']}".lower()
    places = [place for place, pattern in _PLACES if re.search(pattern, lower)]
    exact = [place for place in places if place in fields.get("tables", {})]
    steps: list[Step] = []
    if "RetrieveFromDatabase" in offered:
        steps += [_sql(place, fields) for place in exact[:2]]
    if "RetrieveFromVectorstore" in offered:
        indexed = [place for place in [*places, "chunks"] if [place, _COLUMN[place]] in fields.get("indexed", [])]
        ordered = ["chunks", *indexed] if steps else [*indexed[:1], "chunks", *indexed[1:]]
        steps += [
            _vector(place, fields, again=bool(steps)) for place in dict.fromkeys(ordered) if place in [*indexed, "chunks"]
        ]
    elif "ClassicRetrieve" in offered:
        steps.append(
            ("First the passages nearest to the question.", "ClassicRetrieve", {"query": fields["question"], "limit": 5})
        )
        keys = " ".join(dict.fromkeys(_keywords(fields["question"])))
        steps.append(
            ("Once more with the key words alone.", "ClassicRetrieve", {"query": keys or fields["question"], "limit": 5})
        )
    elif "RetrieveFromDatabase" in offered:
        steps.append(_sql("chunks", fields))
        if not exact:
            steps.append(_sql("tables", fields))
    return steps[:3]


def _paper_searches(fields: Mapping[str, Any]) -> list[Step]:
    """Which paper: by abstract, then the title of the nearest one."""
    question, offered, history = fields["question"], fields["actions"], fields["history"]
    column = next((name for name in ("title_abstract", "abstract") if ["metadata", name] in fields.get("indexed", [])), "")
    if "RetrieveFromVectorstore" in offered and column:
        nearest = next((item["paper"] for item in fields["contexts"] if item.get("paper")), "")
        find = _vector("metadata", fields, again=False, column=column)
        if "RetrieveFromDatabase" in offered:
            sql = f"SELECT paper_id, title, authors FROM metadata WHERE paper_id = '{_quoted(nearest)}'"  # noqa: S608 - an agent's query, checked
            return (
                [find, ("Now the title of the nearest paper.", "RetrieveFromDatabase", {"sql": sql})]
                if nearest or not history
                else [find]
            )
        seen = next((item["text"] for item in fields["contexts"] if item.get("paper")), "")
        title = {
            "query": " ".join(seen.split()[:20]) or question,
            "collection_name": "text_bm25_en",
            "table_name": "metadata",
            "column_name": "title",
            "filter": f"pdf_id == '{nearest}'",
            "limit": 1,
        }
        if ["metadata", "title"] in fields.get("indexed", []) and (nearest or not history):
            return [find, ("Now the title of the nearest paper.", "RetrieveFromVectorstore", title)]
        return [find]
    if "RetrieveFromDatabase" in offered and "metadata" in fields.get("tables", {}):
        hits = _hits("title || ' ' || coalesce(abstract, '')", question)
        sql = f"SELECT title, abstract, authors FROM metadata ORDER BY {hits} DESC, paper_id LIMIT 3"  # noqa: S608 - an agent's query, checked
        return [("The paper whose title and abstract have most of the question's words.", "RetrieveFromDatabase", {"sql": sql})]
    return []


def _vector(place: str, fields: Mapping[str, Any], *, again: bool, column: str = "") -> Step:
    papers = fields["papers"]
    quoted = ", ".join(f"'{paper}'" for paper in papers)
    arguments = {
        "query": " ".join(_keywords(fields["question"])) if again else fields["question"],
        "collection_name": "text_bm25_en" if again else "text_hybrid",
        "table_name": place,
        "column_name": column or _COLUMN[place],
        "filter": f"pdf_id in [{quoted}]" if papers else "",
        "limit": 5,
    }
    return f"What in {place} is nearest to the question?", "RetrieveFromVectorstore", arguments


def _sql(place: str, fields: Mapping[str, Any]) -> Step:
    papers = ", ".join(f"'{_quoted(paper)}'" for paper in fields["papers"])
    if place == "metadata":
        columns = [
            name
            for name in ("title", "authors", "conference_full", "conference_abbreviation", "pub_year", "num_pages", "abstract")
            if name in fields["tables"]["metadata"]
        ]
        where = f" WHERE paper_id IN ({papers})" if papers else ""
        sql = f"SELECT {', '.join(columns)} FROM metadata{where} ORDER BY paper_id LIMIT 10"  # noqa: S608 - an agent's query, checked
        return "The metadata of the papers.", "RetrieveFromDatabase", {"sql": sql}
    column, caption = _COLUMN[place], _CAPTION.get(place)
    where = f" WHERE ref_paper_id IN ({papers})" if papers else ""
    shown = f"{caption}, {column}" if caption else column
    text = f"coalesce({caption}, '') || ' ' || coalesce({column}, '')" if caption else f"coalesce({column}, '')"
    hits = _hits(text, fields["question"])
    sql = f"SELECT {shown}, ref_paper_id FROM {place}{where} ORDER BY {hits} DESC, ref_paper_id, ordinal LIMIT 5"  # noqa: S608 - an agent's query, checked
    return f"The rows of {place} that have most of the question's words.", "RetrieveFromDatabase", {"sql": sql}


def _hits(text: str, question: str) -> str:
    """An SQL expression that counts how many of the question's words a text has."""
    keys = list(dict.fromkeys(words(question)))[:10]
    cases = [f"CASE WHEN lower({text}) LIKE '%{_quoted(key)}%' THEN 1 ELSE 0 END" for key in keys]
    return f"({' + '.join(cases)})" if cases else "1"


def _arithmetic(fields: Mapping[str, Any]) -> Step | None:
    if not _COMPARES.search(fields["question"]) or shape_of(fields["answer_format"], fields["question"]) not in (
        "integer",
        "float",
    ):
        return None
    for sentence in rank(fields["question"], fields["contexts"])[:2]:
        found = numbers(fields["question"], sentence.text)
        if len(found) >= 2:
            high, low = max(found[:2]), min(found[:2])
            return "The difference of the two numbers found.", "CalculateExpr", {"expr": f"round({high:g} - {low:g}, 6)"}
    return None


def _keywords(question: str) -> Sequence[str]:
    kept = set(words(question))
    return [word for word in re.findall(r"\w+", question) if set(words(word)) & kept]


def _quoted(text: str) -> str:
    return text.replace("'", "''")
