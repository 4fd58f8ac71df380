"""The judge audit as a benchmark: each adversarial citation case is a question whose answer is the claim that it cites for.

A YAML file names `read: vivavoce.benchmarks.judge_audit:read` and `grade: vivavoce.grading.judge_audit`; any agent does, for
the claim to be judged is the question's. The asset `cases` replaces the packaged cases by a file of the same form.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from vivavoce.audit.cases import load_cases
from vivavoce.records import Passage, Question


def read(files: Mapping[str, Path], options: Mapping[str, Any]) -> Iterator[Question]:
    """Yield one question a case: slices are its kind and `verdict_supported` or `verdict_other`; gold is the verdict."""
    for case in load_cases(files.get("cases")):
        said = case.verdict == "supported"
        yield Question(
            id=case.id,
            benchmark="judge_audit",
            task="entailment_case",
            text=case.claim,
            contexts=(Passage(id=case.id, title=case.title, text=case.passage),),
            slices=(case.kind, "verdict_supported" if said else "verdict_other"),
            cluster=case.paper,
            gold={"verdict": case.verdict, "kind": case.kind},
        )
