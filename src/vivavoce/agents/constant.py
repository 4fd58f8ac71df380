"""An agent that gives the same answer to every question, without a model: the majority-class rows of accuracy tables.

SciFact's majority label is "true" (137 of 208), PubMedQA's "yes" (519 of 843): spec/scholarqabench.md 4.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field

from vivavoce.agents.base import Seat
from vivavoce.agents.options import Options, read_options
from vivavoce.records import Question, Rollout


class ConstantOptions(Options):
    """`text` is the answer. The first `given` passages of the question count as shown, so that the answer may cite them."""

    text: str = Field(min_length=1)
    given: int = Field(default=0, ge=0)


class ConstantAgent:
    """Answers `text`, free of cost."""

    Options: ClassVar[type[ConstantOptions]] = ConstantOptions

    def __init__(self, name: str, options: Mapping[str, Any] | ConstantOptions) -> None:
        self._name = name
        self.options = read_options(self.Options, options, name)

    @property
    def name(self) -> str:
        return self._name

    async def answer(self, question: Question, seat: Seat) -> Rollout:
        """No model is called and no passage is read."""
        return Rollout(
            question_id=question.id,
            agent=self._name,
            model=seat.model.name,
            seed=seat.seed,
            outcome="answered",
            answer=self.options.text,
            contexts=question.contexts[: self.options.given],
        )
