"""The benchmark and the agent: what is fixed by the seed, what a player sees, and how a game goes wrong."""

from __future__ import annotations

import json
from statistics import fmean, pstdev

import msgspec
import pytest

from vivavoce.agents.bandit import BanditPlayer
from vivavoce.benchmarks.bandit_game import COLOURS, Game
from vivavoce.errors import ConfigError, ModelError, RefusedError


def test_the_default_is_64_games_of_10_buttons_and_50_steps(games) -> None:
    questions = games()
    assert len(questions) == len({question.id for question in questions}) == 64
    first = questions[0]
    assert first.extra["arms"] == COLOURS[:10]
    assert len(first.gold["rewards"]) == 50
    assert {len(row) for row in first.gold["rewards"]} == {10}
    assert first.slices == ()
    assert len(set(COLOURS)) == 20


def test_the_seed_fixes_everything(games) -> None:
    encode = msgspec.json.encode
    assert encode(games(instances=3)) == encode(games(instances=3))
    assert games(instances=3)[0].gold != games(instances=3, seed=1)[0].gold
    assert games(instances=2) == games(instances=3)[:2]
    alone, among = games(instances=1)[0], games(sigma=[0.1, 1], instances=2)[1]
    assert among.slices == ("k10", "s1", "k10_s1")
    assert alone == msgspec.structs.replace(among, slices=())  # other combinations change nothing


def test_the_first_games_cover_all_combinations(games) -> None:
    kinds = [question.slices[-1] for question in games(arms=[5, 10, 20], sigma=[0.1, 1, 3], instances=2)]
    assert len(set(kinds[:9])) == 9
    assert kinds[:9] == kinds[9:]


def test_rewards_are_normal_about_the_means(games) -> None:
    questions = games(sigma=[3.0])
    means = [mean for question in questions for mean in question.gold["means"]]
    assert all(0 <= mean <= 1 for mean in means)
    assert fmean(means) == pytest.approx(0.5, abs=0.04)
    noise = [
        reward - mean
        for question in questions
        for row in question.gold["rewards"]
        for reward, mean in zip(row, question.gold["means"], strict=True)
    ]
    assert fmean(noise) == pytest.approx(0, abs=0.07)
    assert pstdev(noise) == pytest.approx(3, rel=0.02)
    assert all(round(reward, 2) == reward for row in questions[0].gold["rewards"] for reward in row)


@pytest.mark.parametrize(
    "options",
    [{"arms": [21]}, {"arms": [1]}, {"sigma": [-1.0]}, {"horizon": 0}, {"colours": 3}, {"arms": []}, {"sigma": ["x"]}],
)
def test_a_wrong_option_is_named(games, options) -> None:
    with pytest.raises(ConfigError, match=next(iter(options))):
        games(**options)


async def test_a_game_pays_what_the_gold_table_says_and_shows_no_more(games, play, scripted) -> None:
    question = games(instances=1)[0]
    model = scripted(lambda step, fields: f"ACTION={fields['arms'][step % 3]}")
    rollout = await play(question, model)
    assert (rollout.outcome, len(rollout.turns), rollout.usage.calls) == ("answered", 50, 50)
    paid = [question.gold["rewards"][step][step % 3] for step in range(50)]
    assert [turn.observation for turn in rollout.turns] == [str(reward) for reward in paid]
    assert rollout.turns[7].calls == ("call-8",)
    hidden = [question.extra["game"], *map(str, question.gold["means"])]
    for step, request in enumerate(model.requests):
        seen = json.dumps([msgspec.to_builtins(request.messages), request.fields])
        assert not any(text in seen for text in hidden)
        assert seen.count("Reward=") == step
    last = model.requests[-1].messages[-1].content
    assert f"Step=48 Action=blue Reward={paid[48]}" in last
    assert last.endswith("Which button do you press next?")
    assert "<ucb_values>" in last and "50 times" in last


async def test_an_invalid_choice_presses_a_seeded_random_button(games, play, scripted) -> None:
    question = games(instances=1)[0]
    first, again, other = [await play(question, scripted(lambda *_: "I press it."), seed) for seed in (0, 0, 1)]
    assert first == again
    assert first.answer != other.answer
    assert len(set(first.answer.split())) > 5
    assert all("random" in turn.error for turn in first.turns)


@pytest.mark.parametrize(("error", "outcome"), [(ModelError("server down"), "error"), (RefusedError("no"), "refused")])
async def test_a_failing_model_ends_the_game_and_keeps_its_steps(games, play, scripted, error, outcome) -> None:
    model = scripted(lambda step, _: "ACTION=red" if step < 3 else error)
    rollout = await play(games(instances=1)[0], model)
    assert (rollout.outcome, rollout.reason, len(rollout.turns), rollout.answer) == (outcome, str(error), 3, None)


async def test_horizon_constant_and_summary_are_told(games, play, scripted) -> None:
    model = scripted(lambda *_: "ACTION=red")
    rollout = await play(games(instances=1)[0], model, horizon=4, constant="two_log", history="summary")
    assert len(rollout.turns) == rollout.extra["turn_cap"] == 4
    text = model.requests[-1].messages[-1].content
    mean = fmean(float(turn.observation) for turn in rollout.turns[:3])
    assert f"red: pressed 3 times, mean reward {mean:.2f}" in text
    assert "blue: never pressed" in text
    assert "sqrt(2 ln(t) / n)" in text and "4 times in all" in text
    assert "Step=" not in text


async def test_without_a_constant_the_prompt_names_no_formula(games, play, scripted) -> None:
    model = scripted(lambda *_: "ACTION=red")
    await play(games(instances=1)[0], model, horizon=1)
    assert "sqrt" not in model.requests[0].messages[-1].content
    assert model.requests[0].parameters == {}


async def test_another_benchmark_is_refused(games, play, scripted) -> None:
    question = msgspec.structs.replace(games(instances=1)[0], task="airqa")
    with pytest.raises(ConfigError, match="plays the bandit probe"):
        await play(question, scripted(lambda *_: ""))


def test_a_wrong_option_of_the_agent_is_named() -> None:
    with pytest.raises(ConfigError, match="history"):
        BanditPlayer("bandit", {"history": "short"})


def test_a_reward_does_not_depend_on_earlier_presses() -> None:
    game = Game("any", 5, 1.0)
    late = game.rewards(40)
    assert [game.rewards(step) for step in range(41)][-1] == late
