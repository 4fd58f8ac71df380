"""Which texts are compared, under each profile.

as_published: what `src/evals/surface_metrics.py` of yale-nlp/SciDQA@5749c53d compares: the older gold with its leading "A: ",
and the cell of the scored column as pandas reads and `str` prints it, so that an empty cell is the word "nan".
corrected: the released gold without "A: ", and the cleaned answer.
"""

from __future__ import annotations

import re
from typing import Any

from vivavoce.records import Question, Rollout

# What pandas.read_excel takes for missing by default (pandas 2.2 to 3.1).
_MISSING = frozenset(
    {
        *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"),
        *("<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"),
    }
)
_LEAD = re.compile(r"\AA:\s*")


def published_gold(question: Question) -> str:
    """The gold that upstream scores against: the embedded revision, where it is known."""
    return str(question.gold.get("embedded", question.gold["released"])).strip()


def corrected_gold(question: Question) -> str:
    """The released gold without the "A: " that is no part of the answer."""
    return without_lead(str(question.gold["released"]).strip())


def without_lead(gold: str) -> str:
    """A gold without its leading "A:"."""
    return _LEAD.sub("", gold)


def published_answer(rollout: Rollout) -> str | None:
    """The text that upstream would score; None where nothing was imported (a failure of our own run: scores 0)."""
    if "published_answer" in rollout.extra:
        return as_pandas(rollout.extra["published_answer"])
    return None if rollout.answer is None else as_pandas(rollout.answer)


def row_answer(rollout: Rollout) -> str | None:
    """What upstream's join by row position scores in the place of this question's answer (defect B1)."""
    return as_pandas(rollout.extra["row_answer"]) if "row_answer" in rollout.extra else published_answer(rollout)


def as_pandas(cell: Any) -> str:
    """`str(cell).strip()` of a cell as pandas reads it."""
    missing = cell is None or (isinstance(cell, str) and cell in _MISSING)
    return "nan" if missing else str(cell).strip()
