"""The difference report: each question on which the published scorer and the corrected one disagree, with what each gave."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from vivavoce.files import atomic
from vivavoce.tables.sample import Questions, Sample

FIELDS = ("benchmark", "agent", "model", "judge", "seed", "measure", "question_id", "as_published", "corrected")


def differences(row: tuple[str, ...], sample: Sample, questions: Questions) -> Iterator[tuple[str, ...]]:
    """The lines of one rollout: questions whose value differs, or that only one profile scores."""
    identities = list(questions.position)
    for measure in sorted({name for _, name in sample.columns}):
        published, corrected = (sample.columns.get((profile, measure)) for profile in ("as_published", "corrected"))
        if published is None or corrected is None:
            continue
        left, right = published.value, corrected.value
        differ = ~((left == right) | (np.isnan(left) & np.isnan(right)))
        for index in np.flatnonzero(differ):
            yield (*row, measure, identities[index], _text(left[index]), _text(right[index]))


def write_differences(path: Path, lines: Iterable[tuple[str, ...]]) -> int:
    """Write the report as compressed CSV, the same bytes for the same lines; returns how many lines."""
    count = 0
    with (
        atomic(path, "wb") as raw,
        gzip.GzipFile(fileobj=raw, mode="wb", filename="", mtime=0, compresslevel=6) as packed,
        io.TextIOWrapper(packed, encoding="utf-8", newline="") as stream,
    ):
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(FIELDS)
        for line in lines:
            writer.writerow(line)
            count += 1
    return count


def _text(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.9g}"
