"""The judge audit: the cases themselves, what judges score on them, and the agreement statistics."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from vivavoce.audit.__main__ import main, report
from vivavoce.audit.cases import KINDS, load_cases, padded
from vivavoce.audit.compare import compare
from vivavoce.benchmarks.judge_audit import read
from vivavoce.errors import DataError
from vivavoce.files import write_records
from vivavoce.grading.judge_audit import MEASURES, balanced, grade
from vivavoce.judges.base import run_grading
from vivavoce.judges.constant import ConstantJudge, NoJudge
from vivavoce.judges.lexical import LexicalJudge
from vivavoce.metrics.agreement import bootstrap, cohen_kappa, kendall, krippendorff_alpha, pearson, spearman
from vivavoce.metrics.overlap import content_tokens
from vivavoce.records import Judgement, JudgeReply, JudgeRequest, Rollout


def test_cases_cover_all_kinds_and_both_verdicts() -> None:
    cases = load_cases()
    assert len(cases) >= 60
    assert {case.kind for case in cases} == set(KINDS)
    assert min(Counter(case.kind for case in cases).values()) >= 6
    assert len({case.id for case in cases}) == len(cases)
    assert len({(case.passage, case.claim) for case in cases}) == len(cases)
    always = {
        "supported": "supported", "paraphrased": "supported", "on_topic": "unrelated", "contradicted": "contradicted",
        "title_only": "unrelated", "stuffed": "unrelated", "shuffled": "unrelated", "number_changed": "contradicted",
        "negation_flipped": "contradicted",
    }  # fmt: skip
    assert all(case.verdict == always[case.kind] for case in cases if case.kind in always)
    for kind in ("numeric_evidence", "non_english"):
        assert {case.verdict == "supported" for case in cases if case.kind == kind} == {True, False}


def test_stuffed_and_shuffled_passages_hold_the_claims_words() -> None:
    for case in load_cases():
        if case.kind in {"stuffed", "shuffled"}:
            wanted = content_tokens(case.claim)
            assert len(wanted & content_tokens(case.passage)) / len(wanted) > 0.7, case.id
        if case.kind == "title_only":
            assert not case.passage


def test_malformed_cases_are_named(tmp_path: Path) -> None:
    path = tmp_path / "cases.yaml"
    for text in ("- {id: a}", "- {id: a, title: t, passage: p, cases: [{kind: supported, claim: c, verdict: maybe}]}", "3"):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(DataError, match="malformed cases"):
            load_cases(path)
    path.write_text("- {id: a, title: t, passage: p, cases: [{kind: odd, claim: c, verdict: supported}]}", encoding="utf-8")
    with pytest.raises(DataError, match="unknown kinds odd"):
        list(read({"cases": path}, {}))


def audited(judge: Any) -> list[Judgement]:
    found = []
    for question in read({}, {}):
        rollout = Rollout(question_id=question.id, agent="constant", model="none", seed=0, outcome="answered", answer="-")
        found += asyncio.run(run_grading(grade(question, rollout), judge))
    return found


def mean(judgements: list[Judgement], measure: str) -> float:
    values = [item.value for item in judgements if item.measure == measure and item.value is not None]
    return sum(values) / len(values)


class Knowing:
    """A judge that knows the right verdicts."""

    name = "knowing"

    def __init__(self) -> None:
        self.verdicts = {(case.claim, case.passage): case.verdict for case in load_cases()}

    async def ask(self, request: JudgeRequest) -> JudgeReply:
        passage = request.fields["passage"]
        fits = [v for (claim, text), v in self.verdicts.items() if claim == request.fields["claim"] and text in passage]
        return JudgeReply(text=fits[0], verdict=fits[0])


def test_audit_tells_good_judges_from_bad() -> None:
    knowing, yes, no = (
        audited(Knowing()),
        audited(ConstantJudge(None, {"say": "yes"})),
        audited(ConstantJudge(None, {"say": "no"})),
    )
    assert mean(knowing, "judge_accuracy") == mean(knowing, "judge_keeps_verdict") == 1
    assert (mean(yes, "judge_recall"), mean(yes, "judge_specificity")) == (1, 0)
    assert (mean(no, "judge_recall"), mean(no, "judge_specificity")) == (0, 1)
    for judgements, expected in ((knowing, 1.0), (yes, 0.5), (no, 0.5)):
        names = ("judge_accuracy", "judge_supports_rightly", "case_supported")
        assert balanced({name: np.array(mean(judgements, name)) for name in names}) == pytest.approx(expected)
    lexical = audited(LexicalJudge())
    assert mean(lexical, "judge_accuracy") < 0.5  # token overlap is no entailment: the audit must show it
    assert {item.measure for item in lexical} <= {measure.name for measure in MEASURES}


def test_judge_without_verdicts_is_unparsable_not_wrong() -> None:
    found = audited(NoJudge())
    assert mean(found, "judge_unparsable") == 1
    assert {item.status for item in found if item.measure == "judge_accuracy"} == {"unscored"}


def test_padding_adds_words_only_around() -> None:
    assert "the passage" in padded("the passage")
    assert len(padded("x").split()) > 50
    assert padded("") == ""


def test_report_prints_kinds_and_agreement(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    yes, lexical = audited(ConstantJudge(None, {"say": "yes"})), audited(LexicalJudge())
    text = report({"lexical": lexical, "yes": yes})
    assert "| judge | accuracy |" in text
    assert "lexical / yes | judge_says_supported" in text
    write_records(tmp_path / "lexical.jsonl", lexical)
    assert main([str(tmp_path / "lexical.jsonl")]) == 0
    assert "non_english" in capsys.readouterr().out
    assert main([str(tmp_path / "none.jsonl")]) == 1
    assert "no such file" in capsys.readouterr().err


def test_judges_that_share_no_question_are_named() -> None:
    with pytest.raises(DataError, match="share no question"):
        compare([], [], "rubric")


# ---------------------------------------------------------------- statistics

NUMBERS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=3, max_size=30)


@given(NUMBERS)
def test_correlations_equal_scipys(pairs: list[tuple[int, int]]) -> None:
    x, y = [float(a) for a, _ in pairs], [float(b) for _, b in pairs]
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert pearson(x, y) is spearman(x, y) is kendall(x, y) is None
        return
    assert pearson(x, y) == pytest.approx(stats.pearsonr(x, y)[0])
    assert spearman(x, y) == pytest.approx(stats.spearmanr(x, y)[0])
    assert kendall(x, y) == pytest.approx(stats.kendalltau(x, y)[0], abs=1e-12)


def test_alpha_of_krippendorffs_example() -> None:
    none = None
    raters = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, none, none, none],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, none, 3],
        [none, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, none],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, none],
    ]
    assert krippendorff_alpha(raters) == pytest.approx(0.743, abs=5e-4)  # Krippendorff 2011, section C
    assert krippendorff_alpha(raters, "interval") == pytest.approx(0.849, abs=5e-4)
    assert krippendorff_alpha([[1, 1], [1, 1]]) is None
    assert krippendorff_alpha([[1, None], [None, 1]]) is None


def test_kappa() -> None:
    # Cohen's kappa of a 2x2 table: 20 yes/yes, 5 yes/no, 10 no/yes, 15 no/no
    first = ["y"] * 25 + ["n"] * 25
    second = ["y"] * 20 + ["n"] * 5 + ["y"] * 10 + ["n"] * 15
    assert cohen_kappa(first, second) == pytest.approx(0.4)
    assert cohen_kappa([], []) is None
    assert cohen_kappa([1, 1], [1, 1]) is None
    with pytest.raises(ValueError, match="same items"):
        cohen_kappa([1], [1, 2])


def test_bootstrap_is_seeded_and_holds_the_value() -> None:
    generator = random.Random(3)
    x = [generator.random() for _ in range(40)]
    y = [value + generator.random() for value in x]
    found = bootstrap(pearson, x, y)
    assert found == bootstrap(pearson, x, y)
    assert found.value is not None
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.value < found.high
    assert bootstrap(pearson, [1.0, 2.0], [1.0, 2.0]).low is None
