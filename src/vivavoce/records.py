"""The vocabulary: every record that a step writes or hands on is one of these.

`Question` -> `Rollout` (of `Turn`s) -> `Judgement` -> `Measure`; a grader asks a judge through `JudgeRequest` and `JudgeReply`.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Outcome = Literal["answered", "limit", "invalid", "refused", "error"]
Profile = Literal["as_published", "corrected"]
Policy = Literal["failures_wrong", "failures_excluded"]


class Record(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A line of a results file; an unknown or ill-typed field is an error when read."""


class Passage(Record, frozen=True, kw_only=True):
    """A piece of a paper that an agent is shown and may cite."""

    id: str
    text: str
    title: str = ""
    paper: str = ""


class Question(Record, frozen=True, kw_only=True):
    """One question. `gold` is for the grader alone: agents get `unseen()`."""

    id: str
    benchmark: str
    task: str  # the shape of the answer: airqa, scidqa, claim, boolean, short_form, long_form
    text: str
    answer_format: str = ""
    papers: tuple[str, ...] = ()  # ids of the papers that the question is about; empty: the whole corpus
    contexts: tuple[Passage, ...] = ()  # given with the question, in the order in which they are numbered
    slices: tuple[str, ...] = ()  # the table columns that it counts in, besides "all"
    cluster: str = ""  # what intervals are clustered by (a paper); empty: the question itself
    gold: dict[str, Any] = {}
    extra: dict[str, Any] = {}  # shown to agents: conference, venue

    def unseen(self) -> Question:
        """The question as an agent may see it: without gold."""
        return msgspec.structs.replace(self, gold={}, slices=())


class Turn(Record, frozen=True, kw_only=True):
    """One action of an agent: what it thought, did and saw."""

    action: str = ""
    arguments: dict[str, Any] = {}
    thought: str = ""
    observation: str = ""
    error: str = ""  # why the action could not be parsed or run
    calls: tuple[str, ...] = ()  # keys of the model calls in the call store


class Usage(Record, frozen=True, kw_only=True):
    """What answering cost: tokens as the provider counts, `cost` in US dollars (None where a price or count is unknown)."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    cost: float | None = 0.0

    def __add__(self, other: Usage) -> Usage:
        cost = None if self.cost is None or other.cost is None else self.cost + other.cost
        return Usage(
            calls=self.calls + other.calls,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            seconds=self.seconds + other.seconds,
            cost=cost,
        )


class Rollout(Record, frozen=True, kw_only=True):
    """How one question went.

    `answer` is None unless there is one to grade; `contexts` are the passages shown, in the order of their citation numbers.
    """

    question_id: str
    agent: str
    model: str
    seed: int
    outcome: Outcome
    answer: str | None = None
    reason: str = ""  # why the outcome is not `answered`
    turns: tuple[Turn, ...] = ()
    contexts: tuple[Passage, ...] = ()
    usage: Usage = Usage()
    notes: tuple[str, ...] = ()  # oddities of an imported answer, repairs, drafts
    extra: dict[str, Any] = {}


class JudgeRequest(Record, frozen=True, kw_only=True):
    """What a grader asks. `task` names the prompt and the verdict's form (see `judges.tasks`); `fields` fill the prompt."""

    task: str
    fields: dict[str, Any]


class JudgeReply(Record, frozen=True, kw_only=True):
    """What came back: the raw text, the verdict by the common parser (None: unparsable) and the reason if there is none."""

    text: str
    verdict: Any = None
    error: str = ""
    calls: tuple[str, ...] = ()
    usage: Usage = Usage()


class Judgement(Record, frozen=True, kw_only=True):
    """The value of one measure for one question under one profile.

    Where the rollout did not answer, `outcome` tells and `value` is what the profile gives a failure (0 unless it says
    otherwise); where the judge failed, `status` is `unscored` and `value` is None.
    """

    question_id: str
    measure: str
    profile: Profile
    outcome: Outcome
    status: Literal["scored", "unscored"] = "scored"
    value: float | None = None
    reason: str = ""
    detail: dict[str, Any] = {}
    calls: tuple[str, ...] = ()


class Measure(Record, frozen=True, kw_only=True):
    """One line of measures.csv: a value with its 95 % interval and how the questions behind it ended."""

    experiment: str
    benchmark: str
    agent: str
    model: str
    judge: str
    seed: str  # a number, or "mean" over seeds
    profile: Profile
    measure: str
    slice: str
    value: float | None
    n: int
    ci_low: float | None
    ci_high: float | None
    n_answered: int
    n_limit: int
    n_invalid: int
    n_refused: int
    n_error: int
    n_unscored: int
    policy: Policy
