"""Two stages: choose one retrieval, then answer from what it gave.

Source: the two-stage baselines of NeuSym-RAG (spec/airqa.md 4.7): a JSON action in a code block, and an error's text in the
place of passages when the choice cannot be parsed or run. Two calls, two turns.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field

from vivavoce.agents.base import Seat
from vivavoce.agents.desk import Desk, DeskOptions, Desks
from vivavoce.agents.one_call import OneCallOptions, ask_for_answer, fit
from vivavoce.agents.options import read_options
from vivavoce.agents.prompts import prompt
from vivavoce.agents.session import Session
from vivavoce.agents.steps import act
from vivavoce.errors import ModelError, RefusedError
from vivavoce.models.action_text import Syntax
from vivavoce.models.chat import ChatReply
from vivavoce.records import Passage, Question, Rollout
from vivavoce.tools.actions import SPACES
from vivavoce.tools.observe import Observation
from vivavoce.tools.parse import parse_reply

_RETRIEVALS = ("RetrieveFromDatabase", "RetrieveFromVectorstore", "ClassicRetrieve")


class TwoStageOptions(DeskOptions):
    """The space's retrievals are on offer; `given` passages that come with the question are shown before what was found."""

    space: Literal["neural", "symbolic", "hybrid", "hybrid_paperguide"] = "hybrid"
    syntax: Syntax = "json"
    given: int = Field(default=10, ge=0)


class TwoStage:
    """Retrieve once as the model chooses, then answer."""

    Options: ClassVar[type[TwoStageOptions]] = TwoStageOptions

    def __init__(self, name: str, options: Mapping[str, Any] | TwoStageOptions) -> None:
        self._name = name
        self.options = read_options(self.Options, options, name)
        self._desks = Desks(self.options)

    @property
    def name(self) -> str:
        return self._name

    async def answer(self, question: Question, seat: Seat) -> Rollout:
        """Two calls; without a corpus only the second. A model error ends it as `error` (or `refused`), with what was done."""
        options = self.options
        session = Session(self._name, question, seat, question.contexts[: options.given])
        session.extra["turn_cap"] = 2
        last = OneCallOptions(sampling=options.sampling, parsing=options.parsing)
        try:
            if seat.corpus is not None:
                await self._retrieve(session, await self._desks.set_up(question, seat))
            return await ask_for_answer(session, last, expects_contexts=True)
        except RefusedError as error:
            return session.finish("refused", reason=str(error))
        except ModelError as error:
            return session.finish("error", reason=str(error))

    async def _retrieve(self, session: Session, desk: Desk) -> None:
        options = self.options
        names = tuple(name for name in SPACES[options.space] if name in _RETRIEVALS and name in desk.names)
        template = prompt("choose")
        actions = [action for action in desk.values["actions"] if action.name in names]
        messages = template.render(**{**desk.values, "actions": actions})
        session.extra["prompts"] = {"choose": template.version}
        fields = {"kind": "act", **desk.fields, "actions": list(names), "protocol": "code_block"}
        reply: ChatReply = await session.ask(messages, fields, options.sampling)
        parsed = parse_reply(reply.text, names, options.syntax, protocol="code_block", rules=options.parsing)
        seen = await act(session, desk, parsed, reply)
        assert isinstance(seen, Observation)  # GenerateAnswer is not on offer
        if not seen.passages:
            session.shown.append(Passage(id="observation", text=seen.text))
        session.shown[:] = fit(session.shown, options.observation_tokens)
