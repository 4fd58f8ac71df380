"""The budget is never passed, across tasks, jobs and kills; unknown prices cannot hide from it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vivavoce.errors import BudgetError, ConfigError
from vivavoce.models.budget import Budget
from vivavoce.models.chat import ChatRequest, Message
from vivavoce.models.client import open_model
from vivavoce.models.store import CallStore


@given(st.lists(st.tuples(st.floats(0.01, 3), st.floats(0, 1), st.booleans()), max_size=20), st.floats(0.01, 10))
def test_the_budget_is_never_passed(calls: list[tuple[float, float, bool]], usd: float) -> None:
    async def work() -> None:
        budget = Budget(usd=usd)

        async def one(most: float, share: float, paid: bool) -> None:
            await budget.reserve(most)
            await asyncio.sleep(0)
            budget.settle(most, most * share, paid=paid)
            assert budget.spent()[0] <= usd + 1e-9

        ended = await asyncio.gather(*(one(*call) for call in calls), return_exceptions=True)
        assert all(end is None or isinstance(end, BudgetError) for end in ended)
        if not any(ended):
            assert budget.spent()[1] == sum(paid for _, _, paid in calls)
        budget.close()

    asyncio.run(work())


async def test_a_call_waits_for_those_under_way_before_it_gives_up() -> None:
    budget = Budget(usd=1.0)
    await budget.reserve(0.9)
    second = asyncio.create_task(budget.reserve(0.9))
    await asyncio.sleep(0.01)
    assert not second.done(), "the first may cost less than it holds"
    budget.settle(0.9, 0.05, paid=True)
    await second
    budget.settle(0.9, 0.9, paid=True)
    with pytest.raises(BudgetError, match=r"\$0.9500 and 2 calls are spent"):
        await budget.reserve(0.1)


async def test_jobs_share_a_ledger_and_a_killed_jobs_calls_count(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    ledger = tmp_path / "ledger.sqlite"
    one, two = Budget(calls=3, ledger=ledger, job="one"), Budget(calls=3, ledger=ledger, job="two")
    await one.reserve(0.25)
    one.settle(0.25, 0.125, paid=True)
    await two.reserve(0.25)  # and it is killed here
    two.close()
    again = Budget(calls=3, ledger=ledger, job="two")
    assert again.spent() == (0.375, 2) and "killed" in caplog.text
    await again.reserve(None)
    again.settle(None, None, paid=True)
    for budget in (one, again):
        with pytest.raises(BudgetError, match="budget of 3 calls"):
            await budget.reserve(0.0)


async def test_a_run_stops_before_the_next_call_and_goes_on_with_more(
    server: Any, configure: Callable[..., Any], tmp_path: Path
) -> None:
    config = configure(server.url, concurrency=4)
    asked = [ChatRequest(messages=(Message(role="user", content=f"q{number}"),)) for number in range(10)]
    for calls, expected in ((4, 4), (20, 10)):
        budget = Budget(calls=calls, ledger=tmp_path / "ledger.sqlite")
        with CallStore(tmp_path / "s.sqlite") as store:
            async with open_model(config, store, budget=budget) as model:
                done = await asyncio.gather(*(model.chat(one) for one in asked), return_exceptions=True)
            assert server.requests == expected == len(list(store.keys()))
        assert sum(isinstance(one, BudgetError) for one in done) == 10 - expected
        budget.close()


async def test_failed_calls_are_not_charged_but_doubtful_ones_are(
    server: Any, configure: Callable[..., Any], tmp_path: Path
) -> None:
    budget = Budget(usd=1.0)
    config = configure(server.url, retries=0, timeout=0.2, price={"prompt": 1, "completion": 1})
    with CallStore(tmp_path / "s.sqlite") as store:
        async with open_model(config, store, budget=budget) as model:
            for script, calls in (
                ("500-always", 0),
                ("400", 0),
                ("429-always", 0),
                ("hang", 1),
                ("refusal", 2),
                ("none-such", 3),
            ):
                text = f"[[script:{script}]]" if script != "none-such" else "good"
                await asyncio.gather(
                    model.chat(ChatRequest(messages=(Message(role="user", content=text),))), return_exceptions=True
                )
                assert budget.spent()[1] == calls, script
    assert 0 < budget.spent()[0] < 0.01


async def test_an_unknown_price_cannot_be_held_within_dollars(
    server: Any, configure: Callable[..., Any], tmp_path: Path
) -> None:
    with CallStore(tmp_path / "s.sqlite") as store:
        async with open_model(configure(server.url), store, budget=Budget(usd=1.0)) as model:
            with pytest.raises(ConfigError, match="price of tested is unknown"):
                await model.chat(ChatRequest(messages=(Message(role="user", content="x"),)))
    assert server.requests == 0
