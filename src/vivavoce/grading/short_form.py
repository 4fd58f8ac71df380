"""SciFact and PubMedQA: accuracy of the one-word answer, and whether the cited passages support question and answer.

Source: AkariAsai/ScholarQABench@95e6fc52 `citation_correctness_eval.py` `--match` (L274), `--single_qa` and
`--citations_short` (L479).
"""

from __future__ import annotations

from vivavoce.errors import DataError
from vivavoce.grading.base import Grading, MeasureSpec, Value
from vivavoce.grading.common import EFFORT, effort, failed, failure, judgement
from vivavoce.grading.entailment import entail
from vivavoce.grading.long_form import CITATIONS, SCORES, index_base, score_judgements, shown_passages
from vivavoce.metrics.citations import corrected, shortform
from vivavoce.metrics.shortanswer import exact_match, extract_label, published_match, token_f1
from vivavoce.records import Judgement, Question, Rollout

MEASURES: tuple[MeasureSpec, ...] = (
    Value(name="accuracy"),
    Value(name="abstained", worst=1.0, higher_is_better=False, profiles=("corrected",)),
    Value(name="exact_match"),
    Value(name="token_f1", kind="mean"),
    *CITATIONS,
    *EFFORT,
)


def grade(question: Question, rollout: Rollout) -> Grading:
    """Accuracy, SQuAD measures, citations and effort; a failed rollout scores 0 and counts as abstained."""
    gold, labels = question.gold.get("answer"), question.gold.get("labels")
    if not isinstance(gold, str) or not isinstance(labels, list) or gold not in labels:
        raise DataError(f"question {question.id}: gold is {question.gold!r}; expected an answer and the labels it is one of.")
    if failed(rollout):
        zero = failure(rollout, "accuracy", "exact_match", "token_f1", *SCORES)
        return [*zero, judgement(rollout, "abstained", "corrected", True, reason=rollout.reason), *effort(rollout)]
    answer = rollout.answer or ""
    citations: list[Judgement] = []
    scores, replies = yield from entail(
        {
            "as_published": shortform.as_published(question.text, answer, rollout.contexts),
            "corrected": shortform.as_corrected(
                question.text, answer, rollout.contexts, shown_passages(rollout), base=index_base(question, rollout)
            ),
        }
    )
    for profile, score in scores.items():
        citations += score_judgements(rollout, profile, score, replies[profile])
    return [*_answers(rollout, answer, gold, labels), *citations, *effort(rollout)]


def _answers(rollout: Rollout, answer: str, gold: str, labels: list[str]) -> list[Judgement]:
    bare, found = corrected.claim(answer), extract_label(answer, labels)
    read = {"label": found.label, "gold": gold}
    return [
        judgement(rollout, "accuracy", "as_published", published_match(answer, gold)),
        judgement(rollout, "accuracy", "corrected", found.label == gold, reason=found.reason, detail=read),
        judgement(rollout, "abstained", "corrected", found.label is None, reason=found.reason),
        judgement(rollout, "exact_match", "as_published", exact_match(answer, gold)),
        judgement(rollout, "exact_match", "corrected", exact_match(bare, gold)),
        judgement(rollout, "token_f1", "as_published", token_f1(answer, gold)),
        judgement(rollout, "token_f1", "corrected", token_f1(bare, gold)),
    ]
