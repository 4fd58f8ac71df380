"""ScholarQA-CS and -Multi with what their judges need beside the questions: policies of the rubric, the scales, a length audit.

A YAML file names `read: vivavoce.benchmarks.scholarqa_judged:read` with the options of `benchmarks.scholarqabench` (`task: cs`
or `multi`) and

    annotators      cs: mean (default) or first, over the rubrics of a question that two experts annotated
    evidence        cs: whether snippets are judged (default true)
    truncate_words  multi: judge each answer also cut to so many words

and, for `multi`, the asset `rubric`: the published scales (rubrics/prometheus_rubrics_v8.json).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from vivavoce.benchmarks import scholarqabench
from vivavoce.errors import ConfigError, DataError
from vivavoce.records import Question

GOLD = ("annotators", "evidence", "truncate_words")


def read(files: Mapping[str, Path], options: Mapping[str, Any]) -> Iterator[Question]:
    """Yield the questions of `benchmarks.scholarqabench.read` with the judge's options and scales in `gold`."""
    if options.get("annotators", "mean") not in {"mean", "first"}:
        raise ConfigError(f"scholarqa_judged: option annotators is {options['annotators']!r}; expected mean or first.")
    extra: dict[str, Any] = {name: options[name] for name in GOLD if name in options}
    if "rubric" in files:
        extra["rubric"] = _scales(files["rubric"])
    rest = {name: value for name, value in options.items() if name not in GOLD}
    for question in scholarqabench.read({name: path for name, path in files.items() if name != "rubric"}, rest):
        yield replace(question, gold=question.gold | extra)


def _scales(path: Path) -> list[dict[str, Any]]:
    try:
        scales = json.loads(path.read_text(encoding="utf-8"))
        return [{str(key): value for key, value in scale.items()} for scale in scales]
    except (ValueError, AttributeError, TypeError) as error:
        raise DataError(f"{path}: not a list of scales: {error}. Expected the published prometheus_rubrics_v8.json.") from None
