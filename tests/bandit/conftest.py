"""A scripted model, and short cuts to play and grade games."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from vivavoce.agents.bandit import BanditPlayer
from vivavoce.agents.base import Seat
from vivavoce.benchmarks.bandit import read
from vivavoce.config.model import ModelConfig
from vivavoce.grading.bandit import grade
from vivavoce.models.bandit_players import Player
from vivavoce.models.chat import ChatReply, ChatRequest
from vivavoce.records import Judgement, Question, Rollout, Usage

GAP = {
    "correct_greedy": 29,
    "correct_optimal": 11,
    "correct_other": 5,
    "incorrect_greedy": 4,
    "incorrect_optimal": 0,
    "incorrect_other": 1,
}


class Scripted:
    """Replies by a function of the step; an exception in its place is raised. Keeps every request."""

    name = "scripted"
    native_tools = False

    def __init__(self, script: Callable[[int, dict[str, Any]], str | Exception]) -> None:
        self.script, self.requests = script, []

    async def chat(self, request: ChatRequest, *, sample: int = 0) -> ChatReply:
        self.requests.append(request)
        reply = self.script(len(request.fields["history"]), request.fields)
        if isinstance(reply, Exception):
            raise reply
        return ChatReply(text=reply, key=f"call-{len(self.requests)}", usage=Usage(calls=1))


@pytest.fixture
def games() -> Callable[..., list[Question]]:
    """Instances of the benchmark by its options."""
    return lambda **options: list(read({}, options))


@pytest.fixture
def scripted() -> type[Scripted]:
    """The scripted model's class."""
    return Scripted


@pytest.fixture
def player() -> Callable[..., Player]:
    """An offline player by its settings."""

    def make(player: str, **settings: Any) -> Player:
        extra = {"player": player, **settings}
        if player == "gap":
            extra.setdefault("steps", GAP)
        return Player(ModelConfig.parse("bandit_test", {"provider": "x:Y", "extra_body": extra}))

    return make


@pytest.fixture
def play() -> Callable[..., Any]:
    """Play a game: (question, model, seed, options) -> rollout."""

    async def run(question: Question, model: Any, seed: int = 0, **options: Any) -> Rollout:
        return await BanditPlayer("bandit", options).answer(question.unseen(), Seat(model=model, seed=seed))

    return run


@pytest.fixture
def graded() -> Callable[..., dict[tuple[str, str], Judgement]]:
    """Grade a rollout: (profile, measure) -> judgement."""

    def run(question: Question, rollout: Rollout) -> dict[tuple[str, str], Judgement]:
        return {(item.profile, item.measure): item for item in _drive(grade(question, rollout))}

    return run


def _drive(grading: Iterator[Any]) -> list[Judgement]:
    try:
        next(grading)
    except StopIteration as end:
        return list(end.value)
    raise AssertionError("the bandit's grader asks no judge")
