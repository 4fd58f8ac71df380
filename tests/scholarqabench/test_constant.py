"""Majority-class rows: a fixed answer without a model."""

from __future__ import annotations

import pytest

from vivavoce.agents.base import Seat
from vivavoce.agents.constant import ConstantAgent
from vivavoce.errors import ConfigError
from vivavoce.records import Passage, Question
from vivavoce.steps.models import NoModel


@pytest.mark.parametrize(("given", "shown"), [(0, 0), (1, 1), (9, 2)])
async def test_the_same_answer_to_everything(given, shown):
    contexts = (Passage(id="a", text="A"), Passage(id="b", text="B"))
    question = Question(id="q", benchmark="b", task="claim", text="A claim", contexts=contexts)
    rollout = await ConstantAgent("always_true", {"text": "true", "given": given}).answer(question, Seat(model=NoModel()))
    assert (rollout.outcome, rollout.answer, rollout.usage.calls) == ("answered", "true", 0)
    assert len(rollout.contexts) == shown


@pytest.mark.parametrize("options", [{}, {"text": ""}, {"text": "true", "words": 1}])
def test_wrong_options_are_named(options):
    with pytest.raises(ConfigError, match=r"conf/agent/always_true\.yaml"):
        ConstantAgent("always_true", options)
