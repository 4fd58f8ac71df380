"""Print how far two experts' rubrics of the same questions agree on several systems, as Markdown:

    python -m vivavoce.audit.annotators results/judgements/rubric_annotators/rubric_answers/*/s0/lexical.jsonl

One file a system, graded by one judge, by both rubrics of each question.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from vivavoce.audit.compare import annotator_agreement
from vivavoce.errors import DataError, VivavoceError
from vivavoce.files import read_records
from vivavoce.metrics.agreement import Estimate
from vivavoce.records import Judgement

TOTALS = {"with general criteria": "rubric_criteria", "experts' items alone": "rubric_criteria_items"}


def report(paths: Sequence[Path]) -> str:
    """Pearson and Kendall of the systems' scores within a question, averaged over questions: signed, and as published."""
    systems = {str(path): list(read_records(path, Judgement)) for path in paths}
    if len(systems) < 2:
        raise DataError("expected the files of at least two systems: their scores are correlated within each question.")
    lines = ["| scores | questions | Pearson | Kendall | Pearson as published | Kendall as published |", "|" + " --- |" * 6]
    for label, measure in TOTALS.items():
        found = annotator_agreement(systems, measure)
        if not found["questions"]:
            raise DataError(f"{paths[0]}: no question has two rubrics that all systems are scored by (annotators: mean).")
        cells = [_text(found["pearson"]), _text(found["kendall"])]
        cells += [_number(found[f"{name}_as_published"]) for name in ("pearson", "kendall")]
        lines.append(f"| {label} | {found['questions']} | " + " | ".join(cells) + " |")
    note = "As published: of argsort orders and without the sign, so that disagreement counts as agreement (R13)."
    return "\n".join(lines) + f"\n\n{note}\n"


def _text(found: Estimate) -> str:
    interval = "" if found.low is None else f" [{found.low:.3f}, {found.high:.3f}]"
    return _number(found.value) + interval + f" n={found.n}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the report; 1 with a message for a user's mistake."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("judgements", nargs="+", type=Path)
    try:
        sys.stdout.write(report(sorted(parser.parse_args(arguments).judgements)))
    except VivavoceError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
