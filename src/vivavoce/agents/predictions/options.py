"""What a user may say in YAML about a file of answers; everything has a default that fits the upstream formats."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from vivavoce.config.base import Frozen

Format = Literal["auto", "jsonl", "json", "csv", "xlsx", "parquet", "trajectory"]


class PredictionOptions(Frozen):
    """How to read a file of answers. Column names may hold one `*`: `*_ans` is the first column that ends in `_ans`."""

    format: Format = "auto"  # by suffix, then by shape
    sheet: str = ""  # of a spreadsheet; empty: the first

    # Where what stands. Empty: the usual names are tried.
    id: str = ""
    question: str = ""  # the question's text, which joins where there is no id
    answer: list[str] = []  # the first of these columns that exists is the answer
    published: str = ""  # the column that the authors scored, where it is another one
    contexts: str = ""
    index_base: Literal[0, 1] | None = None  # the number of the first context in citations

    missing: Literal["strict", "report"] = "strict"  # missing, extra or duplicate ids: stop, or count and note them

    # What is no answer.
    blank: list[str] = ["", "[]"]
    refusals: list[str] = ["SKIPPED"]
    errors: list[str] = ["[ERROR]:"]  # prefixes

    # What is done with texts that are not as the model wrote them; each leaves a note.
    headers: Literal["remove", "keep"] = "remove"  # chat-template headers such as <|start_header_id|>assistant<|end_header_id|>
    lists: Literal["text", "first", "join"] = "text"  # the text of a Python list, as written for several generations
    split_characters: Literal["repair", "keep"] = "repair"  # one character a line
    escapes: Literal["decode", "keep"] = "decode"  # Excel's _x000D_
    row_join: bool = False  # also keep the answer that stands in the question's row (what a join by position would score)

    excel_limit: int = Field(default=32_767, ge=1)  # a cell as long as this was cut by Excel
