"""The estimate is a range that holds what a run then costs, and says so when a price is unknown."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vivavoce.config.model import ModelConfig
from vivavoce.models.chat import ChatRequest, Message
from vivavoce.models.client import open_model
from vivavoce.models.estimate import Estimate, estimate, request_characters
from vivavoce.models.store import CallStore
from vivavoce.records import Usage

PRICED = {"base_url": "http://h/v1", "model": "m", "max_tokens": 100, "price": {"prompt": 1, "completion": 10}}


def test_a_small_case_by_hand() -> None:
    got = estimate(ModelConfig.parse("m", PRICED), [300, 600], turns=2, observation_characters=30)
    assert got.calls == (2, 4)
    assert got.prompt_tokens == (60 + 120, (100 + 210) + (200 + 310))
    assert got.completion_tokens == (32, 400)
    assert got.cost == pytest.approx(((180 + 320) / 1e6, (820 + 4000) / 1e6))
    assert str(got) == "2 to 4 calls, 180 to 820 prompt tokens, 32 to 400 completion tokens, $0.00 to $0.00"


def test_an_unknown_price_stays_unknown_in_a_sum() -> None:
    unknown = estimate(ModelConfig.parse("m", {"base_url": "http://h/v1", "model": "m"}), [300])
    assert unknown.cost is None and (unknown + estimate(ModelConfig.parse("m", PRICED), [300])).cost is None
    assert "price unknown" in str(unknown) and (Estimate() + Estimate()).cost == (0.0, 0.0)


@given(st.lists(st.integers(0, 100_000), max_size=5), st.integers(1, 10), st.integers(0, 5000), st.integers(1, 3))
def test_low_is_never_above_high_and_samples_multiply(lengths: list[int], turns: int, seen: int, samples: int) -> None:
    config = ModelConfig.parse("m", PRICED)
    one = estimate(config, lengths, turns=turns, observation_characters=seen)
    for low, high in (one.calls, one.prompt_tokens, one.completion_tokens, one.cost or (0, 0)):
        assert 0 <= low <= high
    assert (
        estimate(config, lengths, turns=turns, observation_characters=seen, samples=samples).calls[1] == samples * one.calls[1]
    )


async def test_what_a_run_costs_lies_within(server: Any, configure: Callable[..., Any], tmp_path: Path) -> None:
    config = configure(server.url, price={"prompt": 1, "completion": 10}, max_tokens=100)
    asked = [ChatRequest(messages=(Message(role="user", content=f"question {number} " * 50),)) for number in range(5)]
    used = Usage()
    with CallStore(tmp_path / "s.sqlite") as store:
        async with open_model(config, store) as model:
            for request in asked:
                used += (await model.chat(request)).usage
    expected = estimate(config, [request_characters(request) for request in asked])
    assert expected.calls == (5, 5) and expected.cost is not None and used.cost is not None
    assert expected.prompt_tokens[0] <= used.prompt_tokens <= expected.prompt_tokens[1]
    assert expected.cost[0] * 0.5 <= used.cost <= expected.cost[1]
