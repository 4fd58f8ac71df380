"""A benchmark for the killer: short questions with a reference answer; an option picks one of two files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from vivavoce.records import Question


def read(files: Mapping[str, Path], options: Mapping[str, Any]) -> Iterator[Question]:
    """One question a line."""
    for line in files["questions"].read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        yield Question(
            id=record["id"],
            benchmark="exam",
            task="scidqa",
            text=record["question"],
            slices=(record["kind"],),
            gold={"reference": record["reference"]},
        )
