"""Identities of papers and of their rows: the same title and venue give the same id on every machine.

Source: AirQA-Real's rule, OpenDFM/NeuSym-RAG `utils/dataset_utils` as described in `ai_research_metadata.py:33`@596e644e; it
reproduces 5,792 of the 5,792 ids of the published ACL metadata (tests/corpus/test_catalogue.py).
"""

from __future__ import annotations

import re
import uuid

UNCATEGORIZED = "uncategorized"
_ROWS = uuid.uuid5(uuid.NAMESPACE_DNS, "vivavoce.corpus.rows")


def paper_id(title: str, venue: str = "", year: int | None = None) -> str:
    """The uuid5 of a paper: letters and digits of the lower-cased title, then `-` and venue with year, such as `acl2023`.

    Without a venue the paper is `uncategorized`.
    """
    where = f"{venue.lower()}{year or ''}" if venue else UNCATEGORIZED
    return str(uuid.uuid5(uuid.NAMESPACE_DNS, f"{re.sub('[^a-z0-9]', '', title.lower())}-{where}"))


def row_id(paper: str, table: str, ordinal: int) -> str:
    """The uuid5 of a paper's n-th row in a table."""
    return str(uuid.uuid5(_ROWS, f"{paper}/{table}/{ordinal}"))
