"""The judgements of one rollout as columns: one value a question, aligned with the benchmark's questions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vivavoce.errors import DataError
from vivavoce.files import by_id, read_records
from vivavoce.records import Judgement, Profile, Question

OUTCOMES = ("answered", "limit", "invalid", "refused", "error")
_CODE = {name: code for code, name in enumerate(OUTCOMES)}


class Questions:
    """What aggregation needs of a benchmark's questions: ids, slices and clusters, in file order."""

    def __init__(self, path: Path) -> None:
        known = by_id(read_records(path, Question), "id", path)
        self.position = {identity: index for index, identity in enumerate(known)}
        names = {name: index for index, name in enumerate(dict.fromkeys(q.cluster or q.id for q in known.values()))}
        self.clusters = np.array([names[q.cluster or q.id] for q in known.values()], dtype=np.int64)
        self.slices: dict[str, NDArray[np.bool_]] = {"all": np.ones(len(known), dtype=bool)}
        for index, question in enumerate(known.values()):
            for name in question.slices:
                self.slices.setdefault(name, np.zeros(len(known), dtype=bool))[index] = True


class Column:
    """One measure under one profile: `value` (NaN: none), `present` (a judgement exists), `unscored`."""

    def __init__(self, n: int) -> None:
        self.value = np.full(n, np.nan)
        self.present = np.zeros(n, dtype=bool)
        self.unscored = np.zeros(n, dtype=bool)


class Sample:
    """All columns of one judgements file; `outcome` holds one code a question (index into OUTCOMES, -1: not asked)."""

    def __init__(self, path: Path, questions: Questions) -> None:
        n = len(questions.clusters)
        self.outcome = np.full(n, -1, dtype=np.int64)
        self.columns: dict[tuple[Profile, str], Column] = {}
        for line in read_records(path, Judgement):
            position = questions.position.get(line.question_id)
            if position is None:
                raise DataError(
                    f"{path}: judgement of an unknown question {line.question_id}. Delete the file to have it made again."
                )
            column = self.columns.get((line.profile, line.measure))
            if column is None:
                column = self.columns[line.profile, line.measure] = Column(n)
            if column.present[position]:
                raise DataError(
                    f"{path}: two judgements of {line.question_id} for {line.measure} ({line.profile}). "
                    "Delete the file to have it made again."
                )
            column.present[position] = True
            column.unscored[position] = line.status == "unscored"
            if line.value is not None:
                column.value[position] = line.value
            self.outcome[position] = _CODE[line.outcome]
