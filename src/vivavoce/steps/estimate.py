"""What an experiment would cost: its agents and graders run with a model and a judge that only measure prompts."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from vivavoce.agents.base import Agent, Seat
from vivavoce.config.model import ModelConfig
from vivavoce.corpus.base import Library
from vivavoce.errors import ModelError
from vivavoce.judges.base import run_grading
from vivavoce.judges.constant import ConstantJudge
from vivavoce.judges.prompts import load_task
from vivavoce.models.chat import ChatReply, ChatRequest
from vivavoce.models.estimate import Estimate, estimate, request_characters
from vivavoce.records import JudgeReply, JudgeRequest, Question, Rollout

OBSERVATION = 20_000  # characters: the cap on what a tool shows
ANSWERS = (20, 400)  # words of an answer, short and long, as judges would get them


class MeasuredError(ModelError):
    """Raised instead of a reply: the prompt has been measured."""


class MeasuringModel:
    """Notes how long each first prompt is."""

    def __init__(self, config: ModelConfig) -> None:
        self.name, self.native_tools = config.name, config.tool_calls == "native"
        self.characters: list[int] = []

    async def chat(self, request: ChatRequest, *, sample: int = 0) -> ChatReply:
        """Measure, and stop the agent."""
        self.characters.append(request_characters(request))
        raise MeasuredError("measured")


class MeasuringJudge(ConstantJudge):
    """Always finds the best, so that graders ask all they might; notes how long each prompt is."""

    def __init__(self) -> None:
        super().__init__(options={"say": "yes"}, name="measuring")
        self.characters: list[int] = []

    async def ask(self, request: JudgeRequest) -> JudgeReply:
        """Measure, and give the best verdict."""
        messages = load_task(request.task).render(request.fields)
        self.characters.append(sum(len(message.content) for message in messages))
        return await super().ask(request)


async def of_rollouts(
    agent: Agent, config: ModelConfig, questions: Sequence[Question], library: Library | None, seeds: int
) -> Estimate:
    """Calls, tokens and cost of letting `agent` answer: from one call a question to its most calls."""
    model: Any = MeasuringModel(config)
    for question in questions:
        try:
            await agent.answer(question.unseen(), Seat(model=model, corpus=library))
        except MeasuredError:
            continue
    return estimate(config, model.characters, turns=most_calls(agent), observation_characters=OBSERVATION, samples=seeds)


async def of_judging(grader: ModuleType, config: ModelConfig, questions: Sequence[Question], seeds: int) -> Estimate:
    """Calls, tokens and cost of judging one answer a question, from short answers to long ones with a re-ask each."""
    found = []
    for words in ANSWERS:
        judge = MeasuringJudge()
        for question in questions:
            await run_grading(grader.grade(question, _stand_in(question, words)), judge)
        found.append(estimate(config, judge.characters, turns=1 if words == min(ANSWERS) else 2, samples=seeds))
    low, high = found
    return Estimate(
        calls=(low.calls[0], high.calls[1]),
        prompt_tokens=(low.prompt_tokens[0], high.prompt_tokens[1]),
        completion_tokens=(low.completion_tokens[0], high.completion_tokens[1]),
        cost=None if low.cost is None or high.cost is None else (low.cost[0], high.cost[1]),
    )


def most_calls(agent: Agent) -> int:
    """The most model calls that an agent makes for a question: what it says itself, its turn cap, or 1."""
    own = getattr(agent, "most_calls", None)
    return int(own if own is not None else getattr(getattr(agent, "options", None), "turn_cap", 1))


def _stand_in(question: Question, words: int) -> Rollout:
    """An answer of so many words, with a citation every 20 words where there is something to cite."""
    sentence = " ".join(["word"] * 19) + (" [0]." if question.contexts else " word.")
    text = " ".join([sentence] * max(1, words // 20))
    return Rollout(
        question_id=question.id, agent="", model="", seed=0, outcome="answered", answer=text, contexts=question.contexts
    )
