"""The graders: which judgements a rollout gets under each profile, and what failures and silent judges count."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from vivavoce.benchmarks.scholarqabench import read
from vivavoce.errors import DataError
from vivavoce.grading import long_form, qasa, short_form
from vivavoce.grading.long_form import harmonic
from vivavoce.judges.base import run_grading
from vivavoce.judges.constant import ConstantJudge
from vivavoce.judges.lexical import LexicalJudge
from vivavoce.records import JudgeReply, JudgeRequest, Passage, Question, Rollout

LONG = "This is a sufficiently long statement about alpha beta gamma results"


class Judge:
    """Says what a function says of (passage, claim), and counts what it is asked."""

    name = "scripted"

    def __init__(self, say) -> None:
        self.say, self.asked = say, []

    async def ask(self, request: JudgeRequest) -> JudgeReply:
        self.asked.append(request)
        return self.say(request.fields["passage"], request.fields["claim"])


def supported(passage: str, claim: str) -> JudgeReply:
    return JudgeReply(text="supported", verdict="supported", calls=("k",))


def question(task: str = "long_form", **gold) -> Question:
    return Question(id="q", benchmark="b", task=task, text="A claim", gold=gold, extra={"index_base": 0})


def rollout(answer: str | None, count: int = 2, outcome: str = "answered", **extra) -> Rollout:
    contexts = tuple(Passage(id=f"c{n}", text=f"Text {n}") for n in range(count))
    return Rollout(
        question_id="q", agent="a", model="m", seed=0, outcome=outcome, answer=answer, contexts=contexts, extra=extra
    )


async def values(module, item: Question, answered: Rollout, judge=None) -> dict[tuple[str, str], float | None]:
    judgements = await run_grading(module.grade(item, answered), judge or Judge(supported))
    assert len({(line.measure, line.profile) for line in judgements}) == len(judgements)
    known = {spec.name for spec in module.MEASURES}
    assert {line.measure for line in judgements} <= known
    return {(line.measure, line.profile): line.value for line in judgements}


async def test_long_form_in_both_profiles():
    found = await values(long_form, question(), rollout(f"{LONG} [0]. {LONG} again. Short [9]."))
    assert (found["citation_recall", "as_published"], found["citation_precision", "as_published"]) == (1.0, 1.0)
    assert (found["citation_recall", "corrected"], found["citation_precision", "corrected"]) == (1 / 3, 1 / 2)
    assert found["citation_f1_item", "corrected"] == pytest.approx(0.4)
    assert (found["cited_papers", "as_published"], found["cited_papers", "corrected"]) == (2.0, 1.0)


async def test_both_profiles_pay_for_an_equal_pair_once():
    judge = Judge(supported)
    await values(long_form, question(), rollout(f"{LONG} [0]. {LONG} and more [1]."), judge)
    assert len(judge.asked) == 2


@pytest.mark.parametrize("item", [rollout(None, outcome="error"), rollout(None, outcome="limit"), rollout("  ")])
async def test_no_answer_leaves_the_published_means_and_scores_0_corrected(item):
    found = await values(long_form, question(), item)
    for measure in ("citation_recall", "citation_precision", "citation_f1_item"):
        assert found[measure, "corrected"] == 0.0
        assert (measure, "as_published") not in found
    assert found["words", "as_published"] == 0.0


async def test_a_judge_that_is_down_leaves_the_answer_unscored():
    lines = await run_grading(
        long_form.grade(question(), rollout(f"{LONG} [0].")), Judge(lambda passage, claim: JudgeReply(text="", error="down"))
    )
    scored = {(line.measure, line.profile): line for line in lines}
    for profile in ("as_published", "corrected"):
        line = scored["citation_recall", profile]
        assert (line.status, line.value) == ("unscored", None)
        assert line.reason == "1 of 1 entailment verdicts are missing: down"


async def test_an_unparsable_verdict_is_no_support_as_published_and_unscored_corrected():
    judge = Judge(lambda passage, claim: JudgeReply(text="hm", error="unparsable"))
    lines = await run_grading(long_form.grade(question(), rollout(f"{LONG} [0].")), judge)
    found = {line.profile: (line.status, line.value) for line in lines if line.measure == "citation_recall"}
    assert found == {"as_published": ("scored", 0.0), "corrected": ("unscored", None)}


async def test_passages_shown_and_index_base_come_from_the_rollout():
    found = await values(long_form, question(), rollout(f"{LONG} [1].", shown=1))
    assert (found["citation_recall", "as_published"], found["citation_recall", "corrected"]) == (1.0, 0.0)
    found = await values(long_form, question(), rollout(f"{LONG} [2].", index_base=1))
    assert (found["citation_recall", "as_published"], found["citation_recall", "corrected"]) == (0.0, 1.0)
    with pytest.raises(DataError, match="index_base is 2"):
        await values(long_form, question(), rollout(f"{LONG} [2].", index_base=2))


async def test_statements_stand_with_the_recall():
    lines = await run_grading(long_form.grade(question(), rollout(f"{LONG} [0][7].")), Judge(supported))
    line = next(line for line in lines if line.measure == "citation_recall" and line.profile == "corrected")
    assert line.detail["trace"] == [{"claim": f"{LONG}.", "cited": [0], "wrong": 1, "supported": True, "sound": 1}]
    assert line.calls == ("k",)


@pytest.mark.parametrize(
    ("answer", "as_published", "corrected", "abstained"),
    [("true [0]", 1, 1, 0), ("true or false", 1, 0, 1), ("untrue", 1, 0, 0), ("supports", 0, 1, 0), ("maybe", 0, 0, 1)],
)
async def test_accuracy(answer, as_published, corrected, abstained):
    found = await values(short_form, question("claim", answer="true", labels=["true", "false"]), rollout(answer))
    assert (found["accuracy", "as_published"], found["accuracy", "corrected"]) == (as_published, corrected)
    assert found["abstained", "corrected"] == abstained


async def test_short_form_citations_and_failures():
    item = question("claim", answer="true", labels=["true", "false"])
    found = await values(short_form, item, rollout("true [0]"), ConstantJudge(None, {"say": "yes"}))
    assert found["citation_recall", "as_published"] == found["citation_recall", "corrected"] == 1.0
    found = await values(short_form, item, rollout(None, outcome="invalid"))
    assert found["accuracy", "corrected"] == found["citation_recall", "as_published"] == 0.0
    assert found["abstained", "corrected"] == 1.0
    with pytest.raises(DataError, match="question q: gold"):
        await values(short_form, question("claim", answer="perhaps", labels=["true", "false"]), rollout("true"))


async def test_qasa_rouge():
    item = question("short_form", answer="The moss grows on walls [3].")
    found = await values(qasa, item, rollout("The moss grows on walls [0]."))
    assert found["rouge_l", "corrected"] == 1.0
    assert found["rouge_l", "as_published"] == pytest.approx(2 * 5 / (5 + 6))  # the gold's mark stays in
    assert (await values(qasa, item, rollout(None, outcome="error")))["rouge_l", "corrected"] == 0.0
    with pytest.raises(DataError, match="no gold answer"):
        await values(qasa, question("short_form"), rollout("x"))


def test_bootstrap_median_of_the_published_scorer(data: Path):
    """Contexts as hypothesis, expert answers as reference: the golden values of spec 5.3."""
    from vivavoce.metrics.citations import published
    from vivavoce.metrics.rouge import Rouge

    compare = Rouge("ascii").compare
    scores = []
    for item in read({"questions": data / "scholarqa_multi/human_answers.json"}, {"task": "multi"}):
        texts = " ".join(passage.text for passage in item.contexts if passage.text)
        scores.append(compare(published.claim(item.gold["answer"]), published.claim(texts)).rougeL.fmeasure)
    column = np.array(scores)
    assert column.mean() * 100 == pytest.approx(18.370734106735277, abs=1e-12)
    assert qasa.bootstrap_median(column) * 100 == pytest.approx(18.25466129851655, abs=1e-12)
    assert np.isnan(qasa.bootstrap_median(np.array([])))


def test_f1_is_the_harmonic_mean_of_the_means():
    """Of the paper's Table 3: OpenScholar-GPT-4o on CS, 41.1 and 38.1, prints as 39.5."""
    means = {"citation_recall": np.array([41.1, 0.0]), "citation_precision": np.array([38.1, 0.0])}
    assert harmonic(means) == pytest.approx([39.543181, 0.0], abs=1e-6)
    assert harmonic({"citation_recall": np.float64(1), "citation_precision": np.float64(1)}) == 1.0


async def test_the_lexical_judge_can_decide_entailment():
    judge = LexicalJudge()
    passage = "Title: T\nMoss grows on shaded walls in summer."
    yes = await judge.ask(JudgeRequest(task="entailment", fields={"passage": passage, "claim": "Moss grows on shaded walls."}))
    no = await judge.ask(JudgeRequest(task="entailment", fields={"passage": passage, "claim": "Volcanoes erupt daily."}))
    assert (yes.verdict, no.verdict) == ("supported", "unrelated")
