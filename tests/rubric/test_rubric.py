"""Rubric scores: upstream's executed parsing cases, corrected rules, and the grader's outcomes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vivavoce.audit.compare import annotator_agreement, length_sensitivity
from vivavoce.errors import ConfigError, DataError
from vivavoce.grading.rubric import MEASURES, PARTS, TOTALS, grade
from vivavoce.grading.scholarqa_cs import MEASURES as ALL
from vivavoce.judges.base import run_grading
from vivavoce.judges.constant import ConstantJudge, NoJudge
from vivavoce.judges.lexical import LexicalJudge
from vivavoce.metrics import rubric as sheets
from vivavoce.metrics.rubric import PublishedStopError
from vivavoce.metrics.verdicts import parse_verdict
from vivavoce.records import Judgement, JudgeReply, JudgeRequest, Question, Rollout

SNIPPETS = 3  # in upstream's executed cases


def test_published_parsing_equals_upstreams_executed_cases(shared: Path) -> None:
    cases = json.loads((shared / "golden/scholarqabench/judge_parse_micro.json").read_text(encoding="utf-8"))
    seen = 0
    for name, case in cases.items():
        if case["reply"] is None:
            continue  # a reply is always a text here; upstream stops at None
        rules: dict[str, Callable[[str], Any]] = {
            "extract_json": sheets.published_json,
            "_score_property": lambda reply: sheets.published_share(reply, 10),
            "_score_evidence": lambda reply: sheets.published_evidence(reply, SNIPPETS),
            "_score_citations_excerpts": lambda reply: dict(zip(("citations", "excerpts"), sheets.published_claims(reply))),  # noqa: B905
        }
        for rule, function in rules.items():
            expected = case[rule]
            if isinstance(expected, str) and expected.startswith("EXC"):
                with pytest.raises(PublishedStopError, match=expected.split()[1]):
                    function(case["reply"])
            else:
                assert function(case["reply"]) == expected, (name, rule)
            seen += 1
    assert seen == 17 * 4


@pytest.mark.parametrize(
    ("words", "score"), [(300, 1.0), (301, 0.9966667), (450, 0.5), (599, 0.0033333), (600, 0.0), (0, 1.0), (9000, 0.0)]
)
def test_published_length(words: int, score: float) -> None:
    assert sheets.published_length("word " * words, 300, 600) == pytest.approx(score, abs=1e-7)


def test_corrected_length_is_of_the_body_and_zero_for_nothing() -> None:
    answer = "word " * 300 + "\n\nReferences:\n[1] A 2019.\n[2] " + "b " * 400
    assert sheets.published_length(answer, 300, 600) == 0
    assert sheets.corrected_length(answer, 300, 600) == 1
    assert sheets.corrected_length(" ", 300, 600) == 0


@pytest.mark.parametrize(
    ("answer", "body"),
    [
        ("Text.\n\nReferences:\n[1] A. 2019.\n[2] B.", "Text."),
        ("Text.\n\n## References\n\n1. A\ncontinued\n\n2. B\n\nMore text.", "Text.\n\nMore text."),
        ("One.\n\n**References**\n- A\n- B\n\nTwo.\n\nSources:\n- C", "One.\n\nTwo."),
        ("Text.\n\nReferences: https://a.example https://b.example", "Text."),
        ("Text.\n\nReferences\n\nSmith (2020). Cats.\n\nDoe (2021). Dogs.", "Text."),
        ("Text.\n\nReferences:\n1. A\n\n1. First point of the next section", "Text.\n\n1. First point of the next section"),
        ("The references in this field are few. Sources: none.", "The references in this field are few. Sources: none."),
        ("## Sources\n\nWater comes from springs.", "## Sources\n\nWater comes from springs."),
        ("", ""),
    ],
)
def test_body_is_the_answer_without_its_reference_lists(answer: str, body: str) -> None:
    assert " ".join(sheets.body(answer).split()) == " ".join(body.split())


@given(st.text(alphabet="aR19.:\n-[] ", max_size=120))
def test_body_only_takes_away(answer: str) -> None:
    kept = sheets.body(f"{answer}\n\nReferences:\n1. X 2020\n\n{answer}")
    assert len(kept.split()) <= 2 * len(answer.split()) + 4


GOOD = {"claim_text": "a", "citations": [{"citation_text": "[1]", "excerpts": ["x"]}]}


@pytest.mark.parametrize(
    ("claims", "published", "corrected"),
    [
        ([GOOD, {"claim_text": "b", "citations": []}], (0.5, 1.0), (0.5, 1.0)),
        ([GOOD, {"claim_text": "b"}], (0.0, 0.0), (0.5, 1.0)),  # R10: one odd claim
        ([GOOD, "b"], (0.0, 0.0), (0.5, 1.0)),
        ([{"claim_text": "a", "citations": [{"citation_text": "[1]"}]}], (0.0, 0.0), (1.0, 0.0)),
        ([{"claim_text": "a", "citations": ["[1]"]}], (0.0, 0.0), (1.0, 0.0)),
        ([{"claim_text": "a", "citations": [{"citation_text": "[1]", "excerpts": [" "]}]}], (1.0, 1.0), (1.0, 0.0)),
        ([], (0.0, 0.0), (0.0, 0.0)),
    ],
)
def test_claims(claims: list[Any], published: tuple[float, float], corrected: tuple[float, float]) -> None:
    assert sheets.published_claims(json.dumps({"claims": claims})) == published
    assert sheets.corrected_claims({"claims": claims}) == corrected
    assert sheets.corrected_claims(None) is None


def entry(case: str = "c1", most: float = 0.4, nice: float = 0.2, **changed: Any) -> dict[str, Any]:
    config = {
        "question": "Why?", "low_length": 300, "high_length": 600,
        "length_weight": 0.05, "expertise_weight": 0.05, "citations_weight": 0.2, "excerpts_weight": 0.1,
        "other_properties": [
            {"name": "most_important_item_0", "criterion": f"names causes {case}", "weight": most, "evidence": ["s1", "s2"]},
            {"name": "nice_to_have_item_0", "criterion": "has a date", "weight": nice, "evidence": ["s3"]},
        ],
    } | changed  # fmt: skip
    return {"case_id": case, "annotator": f"Annotator of {case}", "agreement": False, "config": config}


def test_weights_sum_to_one_and_are_split_with_evidence() -> None:
    sheet = sheets.rubric(entry())
    assert sheets.weights(sheet, criteria=True, evidence=False)["most_important_item_0"] == 0.4
    both = sheets.weights(sheet, criteria=True, evidence=True)
    assert (both["most_important_item_0"], both["most_important_item_0_evidence"]) == (0.2, 0.2)
    assert sum(both.values()) == pytest.approx(1)
    with pytest.raises(DataError, match="weights sum to"):
        sheets.rubric(entry(most=0.5))
    with pytest.raises(DataError, match="length_weight"):
        sheets.rubric({"case_id": "c", "config": {"question": "q", "low_length": 1, "high_length": 2}})


def question(*entries: dict[str, Any], **gold: Any) -> Question:
    return Question(
        id="q1", benchmark="b", task="long_form", text="Why?", gold={"rubrics": list(entries or (entry(),)), **gold}
    )


def rollout(answer: str | None = "Because.", outcome: Any = "answered") -> Rollout:
    return Rollout(question_id="q1", agent="a", model="m", seed=0, outcome=outcome, answer=answer)


class Scripted:
    """A judge with a reply a task (a criterion may have its own); what it was asked is kept."""

    name = "scripted"

    def __init__(self, **replies: str) -> None:
        self.replies = {
            "rubric_expertise": '{"score": 10}', "rubric_claims": '{"claims": []}', "rubric_criterion": '{"score": 10}',
            "rubric_evidence": '{"score": 1}',
        } | replies  # fmt: skip
        self.asked: list[JudgeRequest] = []

    async def ask(self, request: JudgeRequest) -> JudgeReply:
        from vivavoce.judges.prompts import load_task

        self.asked.append(request)
        text = self.replies.get(str(request.fields.get("criterion")), self.replies[request.task])
        verdict = parse_verdict(text, load_task(request.task).verdict)
        return JudgeReply(text=text, verdict=verdict.value, error=verdict.error)


def judged(judge: Any, asked: Question | None = None, answered: Rollout | None = None) -> dict[tuple[str, str], Judgement]:
    found = asyncio.run(run_grading(grade(asked or question(), answered or rollout()), judge))
    return {(item.measure, item.profile): item for item in found}


def test_every_measure_is_declared_and_judged_in_both_profiles() -> None:
    found = judged(Scripted())
    names = {measure.name for measure in MEASURES}
    assert {name for name, _ in found} <= names
    assert all((name, profile) in found for name in (*TOTALS, *PARTS) for profile in ("as_published", "corrected"))
    assert names < {measure.name for measure in ALL}


def test_totals_by_hand() -> None:
    found = judged(Scripted(**{"has a date": '{"score": 5}'}))
    for profile, length in (("as_published", 1.0), ("corrected", 1.0)):
        general = 0.05 * length + 0.05 * 1
        assert found["rubric_criteria", profile].value == pytest.approx(general + 0.4 * 1 + 0.2 * 0.5)
        assert found["rubric", profile].value == pytest.approx(general + 0.2 + 0.2 * 0.5 + 0.1 * 0.5 + 0.1 * 1)
        assert found["rubric_criteria_items", profile].value == pytest.approx((0.4 + 0.1) / 0.6)
        assert found["rubric_snippets", profile].value == pytest.approx((0.4 * 0.5 + 0.2 * 1) / 0.6)


def test_evidence_is_only_asked_where_the_criterion_has_a_score() -> None:
    judge = Scripted(**{"has a date": '{"score": 0}'})
    judged(judge)
    assert [request.fields["snippets"] for request in judge.asked if request.task == "rubric_evidence"] == [["s1", "s2"]]
    judge = Scripted()
    found = judged(judge, question(evidence=False))
    assert all(request.task != "rubric_evidence" for request in judge.asked)
    assert ("rubric", "corrected") not in found
    assert found["rubric_criteria", "corrected"].status == "scored"


def test_requests_name_system_case_and_item() -> None:
    judge = Scripted()
    judged(judge)
    refs = [request.fields["ref"] for request in judge.asked]
    assert {ref["item"] for ref in refs} == {
        "expertise", "claims", "criterion:most_important_item_0", "criterion:nice_to_have_item_0",
        "evidence:most_important_item_0", "evidence:nice_to_have_item_0",
    }  # fmt: skip
    assert {(ref["agent"], ref["model"], ref["case_id"]) for ref in refs} == {("a", "m", "c1")}


@pytest.mark.parametrize(
    ("reply", "published"),
    [
        ('{"score": 11}', 1.1),  # R8: no clamp
        ('{"score": -3}', -0.3),
        ('{"score": true}', 0.1),
        ('{"score": 8} {"score": 9}', 0.0),  # R9
        ('{"score": "8"}', None),  # upstream's run ends here
    ],
)
def test_odd_replies_are_published_as_upstream_and_never_guessed(reply: str, published: float | None) -> None:
    found = judged(Scripted(rubric_expertise=reply))
    as_published, corrected = found["rubric_expertise", "as_published"], found["rubric_expertise", "corrected"]
    assert as_published.value == published
    assert as_published.status == ("scored" if published is not None else "unscored")
    assert corrected.value == (0.8 if published is None else None)
    assert corrected.status == ("scored" if published is None else "unscored")
    assert (found["rubric", "corrected"].status == "unscored") == (published is not None)
    if published is None:
        assert "TypeError" in as_published.reason


def test_doubled_braces_are_zero_as_published_and_read_corrected() -> None:
    found = judged(Scripted(rubric_expertise='{{"score": 8}}'))  # R7
    assert found["rubric_expertise", "as_published"].value == 0
    assert found["rubric_expertise", "corrected"].value == 0.8


def test_two_annotators_count_equally_and_published_takes_one() -> None:
    judge = Scripted(**{"names causes c2": '{"score": 0}'})
    found = judged(judge, question(entry("c1"), entry("c2")))
    assert found["rubric_criteria_items", "as_published"].value == pytest.approx(1)
    assert found["rubric_criteria_items", "corrected"].value == pytest.approx((1 + 0.2 / 0.6) / 2)
    assert found["rubric_criteria", "as_published"].detail["case_id"] == "c1"
    first = judged(judge, question(entry("c1"), entry("c2"), annotators="first"))
    assert first["rubric_criteria_items", "corrected"].value == pytest.approx(1)
    import msgspec

    named = msgspec.structs.replace(rollout(), extra={"case_id": "c2"})
    assert judged(judge, question(entry("c1"), entry("c2")), named)["rubric_criteria", "as_published"].detail["case_id"] == "c2"
    with pytest.raises(ConfigError, match="mean or first"):
        judged(judge, question(annotators="best"))


def test_failures_and_empty_answers_ask_nothing() -> None:
    for answered in (rollout(None, "error"), rollout(None, "limit"), rollout(None, "refused")):
        judge = Scripted()
        found = judged(judge, answered=answered)
        assert judge.asked == []
        assert {found[name, profile].value for name in TOTALS for profile in ("as_published", "corrected")} == {0.0}
    empty = judged(Scripted(), answered=rollout("  "))
    assert empty["rubric_length", "as_published"].value == 1  # R6
    assert empty["rubric", "as_published"].value == 0.05
    assert empty["rubric", "corrected"].value == 0
    assert empty["rubric", "corrected"].outcome == "invalid"


def test_without_a_judge_everything_is_unscored_but_effort() -> None:
    found = judged(NoJudge())
    assert {found[name, p].status for name in TOTALS for p in ("as_published", "corrected")} == {"unscored"}
    assert "no judge is configured" in found["rubric", "as_published"].reason


def test_bounds_of_constant_and_lexical_judges() -> None:
    best = judged(ConstantJudge(None, {"say": "yes"}), answered=rollout("word " * 100))
    worst = judged(ConstantJudge(None, {"say": "no"}), answered=rollout("word " * 700))
    assert worst["rubric", "corrected"].value == 0
    middle = judged(LexicalJudge(), answered=rollout("It names causes [1]. And it has a date, too, in this sentence."))
    low, value, high = (found["rubric", "corrected"].value for found in (worst, middle, best))
    assert low is not None
    assert value is not None
    assert high is not None
    assert low < value <= high + 0.3  # the constant judge finds no claims, so no citations


def test_question_without_rubrics_is_named() -> None:
    asked = Question(id="q9", benchmark="b", task="long_form", text="?")
    with pytest.raises(DataError, match=r"q9.*no rubrics"):
        judged(Scripted(), asked)


def test_annotators_and_length_are_compared_over_systems() -> None:
    scores = {"x": ("10", "2"), "y": ("6", "6"), "z": ("2", "10")}  # the two annotators order the systems the other way round
    systems: dict[str, list[Judgement]] = {}
    for system, (one, two) in scores.items():
        judge = Scripted(**{"names causes c1": f'{{"score": {one}}}', "names causes c2": f'{{"score": {two}}}'})
        systems[system] = list(judged(judge, question(entry("c1"), entry("c2"))).values())
    found = annotator_agreement(systems)
    assert found["questions"] == 1
    assert found["pearson"].value == pytest.approx(-1)
    assert found["kendall"].value == pytest.approx(-1)
    assert found["pearson_as_published"] == pytest.approx(1)  # R13: the sign is lost
    assert length_sensitivity(systems["x"], "rubric").n == 1
