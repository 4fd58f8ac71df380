"""Offline players of the bandit probe, in the place of a language model: known strategies that check the measures.

`ucb` knows and does. `greedy` goes by sample means. `random` does neither. `gap` knows without doing, by construction: `steps`
says how many steps of a game fall into each cell of the matrix, and the measured matrix must equal it (under `constant`).
They read `ChatRequest.fields` and reply in the form that the prompt asks a model for. Settings stand in `extra_body`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any, Literal

from pydantic import ValidationError, field_validator

from vivavoce.config.base import Frozen
from vivavoce.errors import ConfigError, ModelError
from vivavoce.metrics.bandit import CELLS, Tally, Truth, does, truth
from vivavoce.models.chat import ChatReply, ChatRequest
from vivavoce.records import Usage

Values = Mapping[int, float]


class Settings(Frozen):
    """`extra_body` of conf/model/bandit_*.yaml."""

    player: Literal["ucb", "greedy", "random", "gap"]
    constant: Literal["two_log", "half_log", "no_log"] = "two_log"
    steps: dict[str, int] = {}  # gap: steps of a whole game in each cell, such as correct_greedy: 29
    seed: int = 0

    @field_validator("steps")
    @classmethod
    def _cells(cls, value: dict[str, int]) -> dict[str, int]:
        if wrong := sorted(name for name, count in value.items() if name not in CELLS or count < 0):
            raise ValueError(f"{', '.join(wrong)}: expected counts of {', '.join(CELLS)}")
        return value


class Player:
    """Deterministic and free. `usage` counts calls and words."""

    def __init__(self, config: Any) -> None:
        self._name = str(config.name)
        try:
            self.settings = Settings.model_validate(dict(config.extra_body))
        except ValidationError as error:
            faults = "; ".join(f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors())
            known = ", ".join(Settings.model_fields)
            raise ConfigError(f"conf/model/{self._name}.yaml: extra_body: {faults}. Known settings are {known}.") from None

    @property
    def name(self) -> str:
        return self._name

    @property
    def native_tools(self) -> bool:
        return False

    async def chat(self, request: ChatRequest, *, sample: int = 0) -> ChatReply:
        """The next move of a game (`fields` of kind `bandit`); ModelError for any other request."""
        fields = request.fields
        if fields.get("kind") != "bandit":
            raise ModelError(f"the model {self._name} plays the bandit probe and nothing else; choose another model for this.")
        arms: list[str] = fields["arms"]
        history = [(arms.index(item["action"]), float(item["reward"])) for item in fields["history"]]
        source = Random(f"{self.settings.seed}/{sample}/{fields['question_id']}/{len(history)}")  # noqa: S311 - a game
        values, arm = self._move(len(arms), history, fields, source, sample)
        lines = [f"{arms[index]} = {value!r}" for index, value in values.items()]
        block = "\n".join(["<ucb_values>", *lines, "</ucb_values>"])
        text = f"Values after {len(history)} presses:\n{block}\nACTION={arms[arm]}"
        words = sum(len(message.content.split()) for message in request.messages)
        usage = Usage(calls=1, prompt_tokens=words, completion_tokens=len(text.split()), cost=0.0)
        return ChatReply(text=text, usage=usage)

    def _move(
        self, arms: int, history: Sequence[tuple[int, float]], fields: Mapping[str, Any], source: Random, sample: int
    ) -> tuple[Values, int]:
        tally, constant = Tally(arms, history), self.settings.constant
        if self.settings.player == "random":
            return {arm: round(source.random(), 3) for arm in range(arms)}, source.randrange(arms)
        if self.settings.player == "greedy":
            means = {arm: tally.means().get(arm, -math.inf) for arm in range(arms)}
            tops = [arm for arm, value in means.items() if value == max(means.values())]
            return means, source.choice(tops)
        if self.settings.player == "ucb":
            return tally.ucb(constant), min(truth(tally, constant).best)
        order = Random(f"{self.settings.seed}/{sample}/{fields['question_id']}/order")  # noqa: S311
        return self._gap(arms, history, fields["horizon"], order)

    def _gap(self, arms: int, history: Sequence[tuple[int, float]], horizon: int, order: Random) -> tuple[Values, int]:
        """Play the schedule from its beginning, for a reply depends on nothing but its request."""
        steps = self.settings.steps
        total = sum(steps.values())
        if total != horizon:
            raise ConfigError(
                f"conf/model/{self._name}.yaml: extra_body.steps: {total} steps in all, but the game has {horizon}."
            )
        left, tally = _schedule(steps, order), Tally(arms)
        for played in (*history, None):
            right = truth(tally, self.settings.constant)
            name, arm = self._first_possible(left, right, arms, tally)
            left.remove(name)
            if played is None:
                return _stated(tally, right, name.startswith("correct"), self.settings.constant), arm
            if played[0] != arm:
                raise ModelError(f"{self._name}: the history is not one of its own games.")
            tally.add(*played)
        raise AssertionError("the last step has no press")

    def _first_possible(self, left: Sequence[str], right: Truth, arms: int, tally: Tally) -> tuple[str, int]:
        """The first cell of the schedule that can be had now, and the lowest arm that falls into it."""
        for name in left:
            correct, _, doing = name.partition("_")
            if correct == "incorrect" and len(right.best) == arms:
                continue  # every arm is best: no stated value could be wrong
            arm = next((arm for arm in range(arms) if does(arm, right) == doing), None)
            if arm is not None:
                return name, arm
        raise ConfigError(
            f"conf/model/{self._name}.yaml: extra_body.steps: after {sum(tally.counts)} presses of {arms} buttons none of "
            f"{', '.join(sorted(set(left)))} is possible. Greedy steps need a button that is still untried: let there be at "
            "least two optimal steps, and no incorrect one where all buttons are equal."
        )


def _schedule(steps: Mapping[str, int], order: Random) -> list[str]:
    """Cells in the order in which they are tried for: two optimal steps, all that are not optimal in a seeded order, the rest.

    So two buttons are known (one of them not best) and others untried, without which greedy and other steps do not exist.
    """
    cells = list(_repeated(steps, optimal=True))
    middle = list(_repeated(steps, optimal=False))
    order.shuffle(middle)
    return [*cells[:2], *middle, *cells[2:]]


def _repeated(steps: Mapping[str, int], *, optimal: bool) -> Iterator[str]:
    for name in CELLS:
        if name.endswith("optimal") == optimal:
            yield from [name] * steps.get(name, 0)


def _stated(tally: Tally, right: Truth, correct: bool, constant: str) -> Values:
    """True values, or values whose highest is given to a wrong arm."""
    values = tally.ucb(constant)
    if correct:
        return values
    wrong = min(set(values) - right.best)
    return {arm: 0.0 if math.isinf(value) else value for arm, value in values.items()} | {wrong: math.inf}
