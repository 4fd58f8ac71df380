"""SciDQA's grader: ROUGE under both profiles, and marks from 1 to 10 by a judge.

Sources: yale-nlp/SciDQA@5749c53d `src/evals/surface_metrics.py` (ROUGE), `llama_judge_coarsegrained_eval.py` and
`llama_score_extraction.py` (judge); OpenDFM/NeuSym-RAG@596e644e `evaluation/scidqa_functions.py:46-63` (judge, in the form that
can be run). The authors print precision; recall and F1 stand beside it under both profiles, so that the choice can be seen.
Divergences: docs/divergences.md.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache

from vivavoce.errors import DataError
from vivavoce.grading.base import Grading, MeasureSpec, Value
from vivavoce.grading.common import EFFORT, effort, failed, failure, judgement, outcome
from vivavoce.grading.scidqa_texts import corrected_gold, published_answer, published_gold, row_answer
from vivavoce.metrics.rouge import Rouge, Scores
from vivavoce.records import Judgement, JudgeReply, JudgeRequest, Outcome, Profile, Question, Rollout

TYPES = ("rouge1", "rouge2", "rougeL")
PARTS = ("precision", "recall", "f1")
DIMENSIONS = ("relevance", "accuracy", "completeness", "conciseness")

_ROUGE = tuple(f"{name}_{part}" for name in TYPES for part in PARTS)
_ROW = tuple(f"{name}_precision_by_row" for name in TYPES)
_UNICODE = tuple(f"{name}_unicode_f1" for name in TYPES)
_JUDGED = tuple(f"judge_{name}" for name in DIMENSIONS)

MEASURES: tuple[MeasureSpec, ...] = (
    *(Value(name=name, kind="mean") for name in _ROUGE),
    *(Value(name=name, kind="mean", profiles=("as_published",)) for name in _ROW),
    *(Value(name=name, kind="mean", profiles=("corrected",)) for name in _UNICODE),
    Value(name="answer_tokens", kind="mean", scale=1),
    Value(name="judge_overall", kind="mean", scale=10),
    *(Value(name=name, kind="mean", scale=10, profiles=("corrected",)) for name in _JUDGED),
    *EFFORT,
)


def grade(question: Question, rollout: Rollout, *, asks: bool = True) -> Grading:
    """Grade one answer; `asks` False leaves the judge out (its measures then have no line)."""
    judgements = list(_lexical(question, rollout, None))
    if _has_effort(rollout):
        judgements += effort(rollout)
    if asks:
        judgements += yield from _judged(question, rollout)
    return judgements


def grade_all(
    questions: Mapping[str, Question], rollouts: Iterable[Rollout], only: Collection[str] | None = None
) -> Iterator[Judgement]:
    """The judgements of `grade` without a judge, streamed; `only` names the measures that are wanted (None: all).

    Raises DataError for a rollout of no question.
    """
    for rollout in rollouts:
        question = questions.get(rollout.question_id)
        if question is None:
            raise DataError(f"a rollout of no question: {rollout.question_id}. Delete the rollouts to have them made again.")
        yield from _lexical(question, rollout, only)
        if _has_effort(rollout):
            yield from (item for item in effort(rollout) if only is None or item.measure in only)


def _has_effort(rollout: Rollout) -> bool:
    """Of answers in a table nothing is known but the answers."""
    return rollout.agent != "predictions" or bool(rollout.extra.get("trajectory"))


@cache
def _scorers() -> tuple[Rouge, Rouge]:
    return Rouge("ascii"), Rouge("unicode")


def _lexical(question: Question, rollout: Rollout, only: Collection[str] | None) -> Iterator[Judgement]:
    plain, unicode = _scorers()
    ended = outcome(rollout)
    published = published_answer(rollout)
    gold = plain.reference(published_gold(question))
    tokens = plain.tokens(published or "")
    scores = plain.score(gold, tokens)
    values: dict[str, float] = dict(zip(_ROUGE, _flat(scores), strict=True))
    values["answer_tokens"] = len(tokens)
    if rollout.extra.get("row_join"):
        by_row = plain.score(gold, plain.tokens(row_answer(rollout) or "")) if "row_answer" in rollout.extra else scores
        values.update(zip(_ROW, (score.precision for score in by_row), strict=True))
    yield from _judgements(question.id, "as_published", ended, values, only)

    answer = (rollout.answer or "") if ended == "answered" else ""
    expected = corrected_gold(question)
    if answer.strip() != published:
        tokens = plain.tokens(answer)
    scores = plain.score(plain.reference(expected), tokens)
    values = dict(zip(_ROUGE, _flat(scores), strict=True))
    values["answer_tokens"] = len(tokens)
    if not (answer.isascii() and expected.isascii()):  # on ASCII texts the variants agree
        scores = unicode.compare(expected, answer)
    values.update(zip(_UNICODE, (score.fmeasure for score in scores), strict=True))
    yield from _judgements(question.id, "corrected", ended, values, only)


def _flat(scores: Scores) -> Iterator[float]:
    return (value for score in scores for value in score)


def _judgements(
    identity: str, profile: Profile, ended: Outcome, values: Mapping[str, float], only: Collection[str] | None
) -> Iterator[Judgement]:
    for name, value in values.items():
        if only is None or name in only:
            yield Judgement(question_id=identity, measure=name, profile=profile, outcome=ended, value=value)


def _judged(question: Question, rollout: Rollout) -> Grading:
    """Two calls: a mark by dimension, and, as upstream does, the overall number read out of that reply by the judge.

    corrected: the four marks by the common parser; overall is their mean, as the paper defines it.
    as_published: `round(float(second reply), 2)`, and 0 where that is no number (scidqa_functions.py:57-62).
    """
    if failed(rollout):
        items = failure(rollout, "judge_overall")
        return items + [item for item in failure(rollout, *_JUDGED) if item.profile == "corrected"]
    fields = {"question": question.text, "reference": corrected_gold(question), "answer": rollout.answer}
    (graded,) = yield [JudgeRequest(task="scidqa_grade", fields=fields)]
    extraction = JudgeRequest(task="scidqa_overall", fields={**fields, "evaluation": graded.text})
    (extracted,) = (yield [extraction]) if graded.text.strip() else (graded,)
    return [_published_overall(rollout, graded, extracted), *_corrected_marks(rollout, graded)]


def _published_overall(rollout: Rollout, graded: JudgeReply, extracted: JudgeReply) -> Judgement:
    if not extracted.text.strip():
        reason = extracted.error or graded.error or "the judge gave no reply"
        return judgement(
            rollout, "judge_overall", "as_published", None, reason=reason, replies=(graded, extracted), unscored=True
        )
    try:
        value = round(float(extracted.text), 2)
    except ValueError:
        value = math.nan
    reason = "" if math.isfinite(value) else f"not a number: {extracted.text.strip()[:80]!r}"
    value = value if math.isfinite(value) else 0.0
    return judgement(rollout, "judge_overall", "as_published", value, reason=reason, replies=(graded, extracted))


def _corrected_marks(rollout: Rollout, graded: JudgeReply) -> list[Judgement]:
    if graded.error or not isinstance(graded.verdict, dict):
        reason = graded.error or "the judge's reply holds no marks"
        names = ("judge_overall", *_JUDGED)
        return [judgement(rollout, name, "corrected", None, reason=reason, replies=(graded,), unscored=True) for name in names]
    marks = {f"judge_{name}": float(graded.verdict[name]) for name in DIMENSIONS}
    marks["judge_overall"] = sum(marks.values()) / len(marks)
    return [judgement(rollout, name, "corrected", mark, replies=(graded,)) for name, mark in marks.items()]
