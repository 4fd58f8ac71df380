"""The actions that agents may take: names, parameters and spaces, for text prompts and as native function tools.

Source: NeuSym-RAG (arXiv:2505.19754) section 3 and appendix; spec/airqa.md 4.1. `hybrid_paperguide` is PaperGuide's space
(arXiv:2601.12988), which puts ClassicRetrieve in the place of RetrieveFromVectorstore. Descriptions are our own.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import msgspec

REQUIRED: Any = msgspec.UNSET
Kind = Literal["string", "integer", "box", "any"]


class Parameter(msgspec.Struct, frozen=True, kw_only=True):
    """A parameter; `box` is a list of four numbers or an empty one. Without a default it must be given."""

    name: str
    kind: Kind
    description: str
    default: Any = REQUIRED

    @property
    def required(self) -> bool:
        return self.default is REQUIRED


class Action(msgspec.Struct, frozen=True, kw_only=True):
    """An action as an agent is told of it."""

    name: str
    description: str
    observation: str
    parameters: tuple[Parameter, ...]


_LIMIT = Parameter(
    name="limit", kind="integer", default=5, description="How many rows to return at most; more than 10 are never shown."
)

_ALL = (
    Action(
        name="RetrieveFromDatabase",
        description="Run one SQL query on the DuckDB database of the papers, in which each row is a piece of a paper.",
        observation="The result as JSON, one row a line; long results are cut, and the last line says so.",
        parameters=(
            Parameter(name="sql", kind="string", description="Exactly one read-only SELECT statement in DuckDB's dialect."),
        ),
    ),
    Action(
        name="RetrieveFromVectorstore",
        description="Search one text column of the database by similarity to a query, lexically or by embedding.",
        observation="The nearest rows as JSON, one a line, each with its score, paper, page, place and text.",
        parameters=(
            Parameter(name="query", kind="string", description="What to search for, in plain words."),
            Parameter(
                name="collection_name", kind="string", description="The collection, which fixes how similarity is measured."
            ),
            Parameter(name="table_name", kind="string", description="The table to search."),
            Parameter(name="column_name", kind="string", description="The text column of that table to search."),
            Parameter(
                name="filter",
                kind="string",
                default="",
                description="A condition on pdf_id, page_number or primary_key, such as "
                "pdf_id == 'ID' and page_number <= 3, or pdf_id in ['ID1', 'ID2']; empty for none.",
            ),
            _LIMIT,
        ),
    ),
    Action(
        name="ClassicRetrieve",
        description="Search the text chunks of the papers that the question is about (all papers if it names none).",
        observation="The nearest chunks as JSON, one a line, each with its score, paper, page and text.",
        parameters=(Parameter(name="query", kind="string", description="What to search for, in plain words."), _LIMIT),
    ),
    Action(
        name="CalculateExpr",
        description="Compute an arithmetic expression of numbers, + - * / // % **, comparisons and a few functions "
        "(abs, round, min, max, sum, sqrt, log, exp, floor, ceil).",
        observation="The value of the expression.",
        parameters=(Parameter(name="expr", kind="string", description="The expression, such as (87.1 - 84.9) / 84.9 * 100."),),
    ),
    Action(
        name="ViewImage",
        description="Look at a page of a paper, or at a region of it, as an image: for figures, charts and laid-out tables.",
        observation="The image.",
        parameters=(
            Parameter(name="paper_id", kind="string", description="The id of the paper."),
            Parameter(name="page_number", kind="integer", description="The page, counted from 1."),
            Parameter(
                name="bounding_box",
                kind="box",
                default=(),
                description="The region as [x, y, width, height] in PDF points from the upper left corner; [] for the page.",
            ),
        ),
    ),
    Action(
        name="GenerateAnswer",
        description="Give the final answer and end. Use it once what was seen is enough.",
        observation="None: the exchange ends.",
        parameters=(
            Parameter(name="answer", kind="any", description="The answer in exactly the format that the question asks for."),
        ),
    ),
)

ACTIONS: dict[str, Action] = {action.name: action for action in _ALL}
FINAL = "GenerateAnswer"

Space = Literal["classic", "neural", "symbolic", "hybrid", "hybrid_paperguide"]
SPACES: dict[str, tuple[str, ...]] = {
    "classic": ("ClassicRetrieve", FINAL),
    "neural": ("RetrieveFromVectorstore", "CalculateExpr", "ViewImage", FINAL),
    "symbolic": ("RetrieveFromDatabase", "CalculateExpr", "ViewImage", FINAL),
    "hybrid": ("RetrieveFromDatabase", "RetrieveFromVectorstore", "CalculateExpr", "ViewImage", FINAL),
    "hybrid_paperguide": ("RetrieveFromDatabase", "ClassicRetrieve", "CalculateExpr", "ViewImage", FINAL),
}

_SCHEMAS: dict[str, dict[str, Any]] = {
    "string": {"type": "string"},
    "integer": {"type": "integer"},
    "box": {"type": "array", "items": {"type": "number"}},
    "any": {"type": ["string", "number", "boolean", "array", "object"], "items": {}},
}


def function_tools(names: Iterable[str]) -> tuple[dict[str, Any], ...]:
    """The actions as function tools with JSON schemas (OpenAI's form), for models that call tools natively."""
    return tuple(_function(ACTIONS[name]) for name in names)


def _function(action: Action) -> dict[str, Any]:
    properties = {item.name: {**_SCHEMAS[item.kind], "description": item.description} for item in action.parameters}
    schema = {
        "type": "object",
        "properties": properties,
        "required": [item.name for item in action.parameters if item.required],
        "additionalProperties": False,
    }
    return {
        "type": "function",
        "function": {"name": action.name, "description": f"{action.description} {action.observation}", "parameters": schema},
    }
