"""Print what judgement files tell about their judges, as Markdown:

    python -m vivavoce.audit results/judgements/judge_audit/constant/none/s0/*.jsonl

One file a judge, named for it, over the same rollouts. For the judge audit: accuracy by kind of case, unparsable replies and
verdicts kept when padded; for any measures: agreement of each two judges, and correlation with the length of the answer.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from vivavoce.audit.compare import compare, length_sensitivity, values
from vivavoce.errors import VivavoceError
from vivavoce.files import read_records
from vivavoce.metrics.agreement import Estimate
from vivavoce.records import Judgement

AUDIT = (
    "judge_accuracy",
    "judge_recall",
    "judge_specificity",
    "judge_says_supported",
    "judge_unparsable",
    "judge_accuracy_padded",
    "judge_keeps_verdict",
)
SCORES = ("judge_says_supported", "accuracy", "rubric", "rubric_criteria", "organization", "coverage", "relevance", "overall")
Files = Mapping[str, Sequence[Judgement]]


def report(judges: Files) -> str:
    """The Markdown report of judges' judgements of the same rollouts."""
    parts = [_audit(judges), _pairs(judges), _lengths(judges)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _audit(judges: Files) -> str:
    kinds: dict[str, list[str]] = {}
    for judgements in judges.values():
        for item in judgements:
            if item.measure == "judge_accuracy":
                kinds.setdefault(item.detail["kind"], []).append(item.question_id)
    if not kinds:
        return ""
    rows = []
    for name, judgements in judges.items():
        tables = {measure: values(judgements, measure, "corrected") for measure in AUDIT}
        accuracy = tables["judge_accuracy"]
        cells = [_percent([accuracy.get(key) for key in dict.fromkeys(ids)]) for _, ids in sorted(kinds.items())]
        rows.append([name, *(_percent(list(tables[measure].values())) for measure in AUDIT), *cells])
    head = [
        "judge",
        "accuracy",
        "on supported",
        "on others",
        "says supported",
        "unparsable",
        "accuracy padded",
        "verdict kept",
        *sorted(kinds),
    ]
    return "## Adversarial citation cases (percent; unscored cases left out)\n\n" + _table(head, rows)


def _pairs(judges: Files) -> str:
    rows = []
    for one, two in itertools.combinations(judges, 2):
        for measure in _shared(judges):
            found = compare(judges[one], judges[two], measure)
            kappa = _estimate(found.kappa) if found.kappa else "-"
            row = [f"{one} / {two}", measure, kappa, _estimate(found.alpha), _estimate(found.spearman)]
            rows.append([*row, str(found.both), str(found.one)])
    if not rows:
        return ""
    head = ["judges", "measure", "Cohen's kappa", "Krippendorff's alpha", "Spearman", "n", "only one scored"]
    return "## Agreement of judges\n\n" + _table(head, rows)


def _lengths(judges: Files) -> str:
    rows = []
    for name, judgements in judges.items():
        for measure in _shared(judges):
            found = length_sensitivity(judgements, measure)
            if found.n:
                rows.append([name, measure, _estimate(found), str(found.n)])
    return "## Correlation with the answer's length\n\n" + _table(["judge", "measure", "Spearman", "n"], rows) if rows else ""


def _shared(judges: Files) -> list[str]:
    present = [{item.measure for item in judgements if item.profile == "corrected"} for judgements in judges.values()]
    return [measure for measure in SCORES if all(measure in found for found in present)]


def _percent(column: Sequence[float | None]) -> str:
    known = [value for value in column if value is not None]
    return f"{100 * sum(known) / len(known):.1f} ({len(known)})" if known else "-"


def _estimate(found: Estimate) -> str:
    if found.value is None:
        return "-"
    return f"{found.value:.3f}" + ("" if found.low is None else f" [{found.low:.3f}, {found.high:.3f}]")


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the files, print the report; 1 with a message for a user's mistake."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("judgements", nargs="+", type=Path)
    paths = sorted(parser.parse_args(arguments).judgements)
    try:
        sys.stdout.write(report({path.stem: list(read_records(path, Judgement)) for path in paths}))
    except VivavoceError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
