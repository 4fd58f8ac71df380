"""Plays the button bandit: asks the model at every step, presses what it chose, shows it what came of it.

Source: Schmied et al. 2025 (arXiv:2504.16078), section 4.2 and its appendix; the prompt is in our own words. A reply without a
valid choice has a random button pressed, as published; the turn's `error` says so. Each turn keeps the reply as `thought`, from
which the grader reads the values.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from statistics import fmean
from typing import Any, ClassVar

from vivavoce.agents.bandit.options import FORMULAS, BanditPlayerOptions
from vivavoce.agents.base import Seat
from vivavoce.agents.options import read_options
from vivavoce.agents.prompts import prompt
from vivavoce.agents.session import Session, clean
from vivavoce.benchmarks.bandit_game import Game
from vivavoce.errors import ConfigError, ModelError, RefusedError
from vivavoce.metrics.bandit_reply import last_part, parse_action
from vivavoce.models.chat import ChatReply
from vivavoce.records import Question, Rollout, Turn

ACTION = "press"


class BanditPlayer:
    """One model call a step. Every step is a turn: action `press`, argument `button`, observation the reward."""

    Options: ClassVar[type[BanditPlayerOptions]] = BanditPlayerOptions

    def __init__(self, name: str, options: Mapping[str, Any] | BanditPlayerOptions) -> None:
        self._name = name
        self.options = read_options(self.Options, options, name)
        self._prompt = prompt("bandit/step")

    @property
    def name(self) -> str:
        return self._name

    async def answer(self, question: Question, seat: Seat) -> Rollout:
        """Play a whole game; the answer lists the buttons pressed. A model error ends it, with the steps played kept."""
        if question.task != "bandit":
            raise ConfigError(
                f"conf/agent/{self._name}.yaml plays the bandit probe; {question.benchmark} asks for {question.task}."
            )
        extra = question.extra
        game = Game(extra["game"], len(extra["arms"]), extra["sigma"])
        horizon = min(self.options.horizon or extra["horizon"], extra["horizon"])
        session = Session(self._name, question, seat)
        session.extra = {"turn_cap": horizon, "prompts": {"bandit/step": self._prompt.version}}
        history: list[dict[str, Any]] = []
        try:
            for step in range(horizon):
                reply = await self._ask(session, game, history, horizon)
                arm, reason = _choice(reply, game, seat.seed, step)
                history.append({"action": game.arms[arm], "reward": game.rewards(step)[arm]})
                session.turns.append(_turn(history[-1], reply, reason))
        except RefusedError as error:
            return session.finish("refused", reason=str(error))
        except ModelError as error:
            return session.finish("error", reason=str(error))
        return session.finish("answered", " ".join(item["action"] for item in history))

    async def _ask(self, session: Session, game: Game, history: list[dict[str, Any]], horizon: int) -> ChatReply:
        told = {"arms": game.arms, "horizon": horizon, "history": history}
        summary = _summary(game, history) if self.options.history == "summary" else []
        messages = self._prompt.render(**told, summary=summary, formula=FORMULAS[self.options.constant])
        return await session.ask(messages, {"kind": "bandit", **told}, self.options.sampling)


def _choice(reply: ChatReply, game: Game, seed: int, step: int) -> tuple[int, str]:
    """The button to press, and why it is a random one (empty: it was chosen)."""
    arm = parse_action(reply.text, game.arms)
    if arm is not None:
        return arm, ""
    cut = ", and the reply was cut at max_tokens" if reply.finish_reason == "length" else ""
    drawn = Random(f"{game.key}/{seed}/{step}").randrange(len(game.arms))  # noqa: S311 - a game, not a secret
    return drawn, f"no ACTION= with the name of a button{cut}; a random one was pressed"


def _turn(press: Mapping[str, Any], reply: ChatReply, reason: str) -> Turn:
    return Turn(
        action=ACTION,
        arguments={"button": press["action"]},
        thought=clean(last_part(reply.text)),
        observation=str(press["reward"]),
        error=reason,
        calls=(reply.key,) if reply.key else (),
    )


def _summary(game: Game, history: list[dict[str, Any]]) -> list[str]:
    lines = []
    for name in game.arms:
        rewards = [item["reward"] for item in history if item["action"] == name]
        told = f"pressed {len(rewards)} times, mean reward {fmean(rewards):.2f}" if rewards else "never pressed"
        lines.append(f"{name}: {told}")
    return lines
