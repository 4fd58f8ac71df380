"""The loop of agents with tools: think, act, observe, until GenerateAnswer or the cap.

Source: NeuSym-RAG (arXiv:2505.19754), agents/frameworks/agent_base.py:33@596e644e; spec/airqa.md 4.3. Every action call is a
turn, the terminal and unparsable ones included; the cap is an outcome (`limit`), not an answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from pydantic import Field

from vivavoce.agents.base import Seat
from vivavoce.agents.desk import Desk, DeskOptions, Desks
from vivavoce.agents.options import read_options
from vivavoce.agents.prompts import prompt
from vivavoce.agents.session import Session
from vivavoce.agents.steps import Final, native_turn, text_turn
from vivavoce.errors import ModelError, RefusedError
from vivavoce.metrics.turns import longest_repeat
from vivavoce.models.chat import Message
from vivavoce.records import Question, Rollout
from vivavoce.tools.actions import function_tools
from vivavoce.tools.tokens import plain_count


class ToolLoopOptions(DeskOptions):
    """`window`: how many past turns stay in the prompt. `tools`: native calls where the model makes them (`auto`), or not.

    `stop_on_repeats` ends a rollout when one action was taken so often (0: never). `prompt_tokens` bounds the prompt: the
    oldest turns are dropped first. `given`: how many passages that come with the question are shown.
    """

    turn_cap: int = Field(default=20, ge=1)
    window: int = Field(default=5, ge=1)
    tools: Literal["auto", "text", "native"] = "auto"
    stop_on_repeats: int = Field(default=0, ge=0)
    prompt_tokens: int = Field(default=32_000, ge=200)
    given: int = Field(default=10, ge=0)


class ToolLoop:
    """An agent that acts over several turns in one of the action spaces."""

    Options: ClassVar[type[ToolLoopOptions]] = ToolLoopOptions

    def __init__(self, name: str, options: Mapping[str, Any] | ToolLoopOptions) -> None:
        self._name = name
        self.options: ToolLoopOptions = read_options(self.Options, options, name)
        self._desks = Desks(self.options)

    @property
    def name(self) -> str:
        return self._name

    async def answer(self, question: Question, seat: Seat) -> Rollout:
        """Run the loop. A model error ends it as `error` (or `refused`), with the turns taken so far."""
        options = self.options
        native = options.tools == "native" or (options.tools == "auto" and seat.model.native_tools)
        session = Session(self._name, question, seat, question.contexts[: options.given])
        session.extra["turn_cap"] = options.turn_cap
        try:
            desk = await self._desks.set_up(question, seat, native=native, turn_cap=options.turn_cap)
            plan = await self._plan(session, desk)
            rollout = await self._loop(session, desk, plan, native)
        except RefusedError as error:
            return session.finish("refused", reason=str(error))
        except ModelError as error:
            return session.finish("error", reason=str(error))
        return rollout

    async def _plan(self, session: Session, desk: Desk) -> str:
        """A plan to put into the task; none here (see `draft_and_follow`)."""
        return ""

    async def _loop(self, session: Session, desk: Desk, plan: str, native: bool) -> Rollout:
        options = self.options
        template = prompt("loop")
        session.extra["prompts"] = {**session.extra.get("prompts", {}), "loop": template.version}
        head = template.render(**desk.values, contexts=list(session.shown), plan=plan)
        tools = function_tools(desk.names) if native else ()
        fields = {"kind": "act", **desk.fields, "plan": plan}
        past: list[list[Message]] = []
        while len(session.turns) < options.turn_cap:
            messages = [*head, *recent(head, past, options.window, options.prompt_tokens)]
            reply = await session.ask(messages, fields, options.sampling, tools)
            if native:
                outcome = await native_turn(session, desk, reply, options.turn_cap)
            else:
                outcome = await text_turn(session, desk, reply, options.syntax, options.parsing)
            if isinstance(outcome, Final):
                return session.finish("answered", outcome.answer)
            past.append(outcome)
            repeats = longest_repeat(session.turns)
            if options.stop_on_repeats and repeats >= options.stop_on_repeats:
                return session.finish("limit", reason=f"loop: one action was taken {repeats} times")
        return session.finish("limit", reason=f"no answer within {options.turn_cap} turns")


def recent(head: Sequence[Message], past: Sequence[list[Message]], window: int, tokens: int) -> list[Message]:
    """The messages of the last `window` turns, fewer if the prompt would pass `tokens`; the last turn always stays."""
    kept = list(past[-window:])
    room = tokens - sum(plain_count(message.content) for message in head)
    lengths = [sum(plain_count(message.content) for message in turn) for turn in kept]
    while len(kept) > 1 and sum(lengths) > room:
        del kept[0], lengths[0]
    return [message for turn in kept for message in turn]
