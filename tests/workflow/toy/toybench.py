"""A toy benchmark, as someone outside the project would write it: does the agent repeat the word?"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from vivavoce.agents.base import Seat
from vivavoce.records import Question, Rollout


def read(files: Mapping[str, Path], options: Mapping[str, Any]) -> Iterator[Question]:
    """One question a line of words.jsonl."""
    for line in files["questions"].read_text().splitlines():
        record = json.loads(line)
        yield Question(
            id=record["id"],
            benchmark="toy",
            task="short_form",
            text=record["word"],
            slices=(record["kind"],),
            gold={"word": record["word"]},
        )


class Parrot:
    """Repeats the question, or (option `shy`) says nothing to half of them."""

    def __init__(self, name: str, options: Mapping[str, Any]) -> None:
        self.name, self.shy = name, bool(options.get("shy"))

    async def answer(self, question: Question, seat: Seat) -> Rollout:
        """The question's own words."""
        silent = self.shy and len(question.text) % 2 == 0
        return Rollout(
            question_id=question.id,
            agent=self.name,
            model=seat.model.name,
            seed=seat.seed,
            outcome="invalid" if silent else "answered",
            answer=None if silent else question.text.upper(),
        )
