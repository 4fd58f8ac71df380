"""Players of known strategies are measured as what they are, in both profiles; failures are never silently good or absent."""

from __future__ import annotations

import math

import msgspec
import numpy as np
import pytest

from vivavoce.errors import ConfigError, DataError, ModelError
from vivavoce.grading.bandit import MEASURES
from vivavoce.grading.base import Derived
from vivavoce.metrics.bandit import CELLS, DOINGS

GAP = {"correct_greedy": 29, "correct_optimal": 11, "correct_other": 5, "incorrect_greedy": 4, "incorrect_other": 1}
PROFILES = ("as_published", "corrected")


def derived(name, judgements, profile):
    """A derived measure of one game."""
    spec = next(item for item in MEASURES if item.name == name)
    assert isinstance(spec, Derived)
    return float(spec.combine({key: np.asarray(judgements[profile, key].value) for key in spec.inputs}))


@pytest.mark.parametrize("constant", ["two_log", "half_log", "no_log"])
@pytest.mark.parametrize("arms", [5, 10, 20])
async def test_exact_ucb_knows_and_does(games, play, player, graded, constant, arms) -> None:
    suffix = "" if constant == "two_log" else f"_{constant}"
    for question in games(arms=[arms], instances=4):
        found = graded(question, await play(question, player("ucb", constant=constant)))
        for profile in PROFILES:
            assert found[profile, f"correct_optimal{suffix}"].value == 1
            assert derived(f"gap{suffix}", found, profile) == 0
        assert found["corrected", "coverage"].value == 1
        assert found["as_published", "share_before"].value == arms / 50


@pytest.mark.parametrize(("arms", "sigma"), [(5, 0.1), (10, 1.0), (20, 3.0)])
@pytest.mark.parametrize("seed", [0, 1])
async def test_the_gap_player_is_measured_as_it_was_made(games, play, player, graded, arms, sigma, seed) -> None:
    for question in games(arms=[arms], sigma=[sigma], instances=6):
        found = graded(question, await play(question, player("gap"), seed))
        for name in CELLS:
            first = name == "correct_optimal"
            assert found["as_published", name].value == pytest.approx(GAP.get(name, 0) / 50)
            assert found["corrected", name].value == pytest.approx((GAP.get(name, 0) - first) / 49)
        assert found["as_published", "knowing"].value == pytest.approx(45 / 50)
        assert derived("gap", found, "as_published") == pytest.approx(34 / 45)
        assert derived("greedy_given_correct", found, "as_published") == pytest.approx(29 / 45)
        assert derived("other_given_incorrect", found, "corrected") == pytest.approx(1 / 5)


async def test_games_of_the_gap_player_differ_by_seed(games, play, player) -> None:
    question = games(instances=1)[0]
    assert (await play(question, player("gap"), 0)).answer != (await play(question, player("gap"), 1)).answer


async def test_the_greedy_player_is_greedy_and_does_not_know(games, play, player, graded) -> None:
    for question in games(instances=6):
        found = graded(question, await play(question, player("greedy")))
        assert found["corrected", "mean_greedy"].value == 1
        assert found["corrected", "knowing"].value < 0.2
        assert found["corrected", "coverage"].value < 0.5


async def test_the_random_player_is_at_chance(games, play, player, graded) -> None:
    questions = games(instances=30)
    found = [graded(question, await play(question, player("random"))) for question in questions]
    expected = [50 * (max(question.gold["means"]) - np.mean(question.gold["means"])) for question in questions]
    assert np.mean([item["corrected", "regret"].value for item in found]) == pytest.approx(np.mean(expected), rel=0.05)
    after = [sum(item["corrected", f"share_after_correct_{doing}"].value for doing in DOINGS) for item in found]
    share = 1 - np.mean([item["corrected", "share_before"].value for item in found])
    assert np.mean(after) / share == pytest.approx(0.1, abs=0.04)  # one of ten buttons is best


async def test_every_matrix_adds_up(games, play, player, graded) -> None:
    for question in games(arms=[5, 10], instances=3):
        for name in ("ucb", "greedy", "random", "gap"):
            found = graded(question, await play(question, player(name)))
            for profile in PROFILES:
                value = lambda key: found[profile, key].value  # noqa: B023, E731
                for suffix in ("", "_half_log", "_no_log"):
                    assert sum(value(f"{cell}{suffix}") for cell in CELLS) == pytest.approx(1)
                    assert sum(value(f"{doing}{suffix}") for doing in DOINGS) == pytest.approx(1)
                for cell in CELLS:
                    assert value(f"share_before_{cell}") + value(f"share_after_{cell}") == pytest.approx(value(cell))
                before = sum(value(f"share_before_{cell}") for cell in CELLS)
                assert before == pytest.approx(value("share_before"))
                assert value("share_after_correct_greedy") == value("share_after_incorrect_greedy") == 0
                if before:
                    doings = [derived(f"{doing}_before", found, profile) for doing in DOINGS]
                    assert sum(doings) == pytest.approx(1)


async def test_every_value_has_its_specification(games, play, player, graded) -> None:
    question = games(instances=1)[0]
    judged = {name for _, name in graded(question, await play(question, player("ucb")))}
    names = [spec.name for spec in MEASURES]
    assert len(names) == len(set(names))
    assert judged == {spec.name for spec in MEASURES if not isinstance(spec, Derived)}
    assert {key for spec in MEASURES if isinstance(spec, Derived) for key in spec.inputs} <= judged


def test_a_row_without_steps_has_no_conditional_share() -> None:
    spec = next(item for item in MEASURES if item.name == "optimal_given_incorrect")
    means = {key: np.array([0.0, 0.5]) for key in spec.inputs}
    assert math.isnan(spec.combine(means)[0])
    assert spec.combine(means)[1] == pytest.approx(1 / 3)


async def test_values_without_a_block_are_incorrect_and_counted_apart(games, play, scripted, graded) -> None:
    question = games(instances=1)[0]
    model = scripted(lambda step, fields: f"ACTION={fields['arms'][step % 10]}")
    found = graded(question, await play(question, model))
    for profile in PROFILES:
        assert found[profile, "knowing"].value == found[profile, "parse_rate"].value == 0
        assert found[profile, "action_parse_rate"].value == 1
        assert found[profile, "incorrect_optimal"].value >= 0.18


async def test_the_profiles_differ_on_half_a_list_and_on_random_presses(games, play, scripted, graded) -> None:
    question = games(instances=1)[0]

    def half(step, fields):
        untried = fields["arms"][step] if step < 10 else "blue"
        return f"<ucb_values>{untried} = inf</ucb_values>\nACTION={untried}"

    found = graded(question, await play(question, scripted(half), horizon=10))
    assert found["as_published", "correct_optimal"].value == 1
    assert found["corrected", "incorrect_optimal"].value == 1
    assert (found["corrected", "parse_rate"].value, found["corrected", "complete_rate"].value) == (1, 0)

    everything = scripted(lambda *_: "<ucb_values>all others: inf</ucb_values>")
    found = graded(question, await play(question, everything, horizon=10))
    assert found["as_published", "optimal"].value > 0
    assert found["corrected", "other"].value == 1
    assert found["corrected", "action_parse_rate"].value == 0


async def test_steps_that_a_failed_game_did_not_reach_are_incorrect(games, play, player, scripted, graded) -> None:
    question = games(instances=1)[0]
    whole = await play(question, player("ucb"))
    cut = msgspec.structs.replace(whole, turns=whole.turns[:30], outcome="error", reason="server down", answer=None)
    found = graded(question, cut)
    assert found["as_published", "correct_optimal"].value == pytest.approx(30 / 50)
    assert found["as_published", "incorrect_other"].value == pytest.approx(20 / 50)
    assert found["corrected", "correct_optimal"].value == pytest.approx(29 / 49)
    assert found["corrected", "parse_rate"].value == pytest.approx(30 / 50)
    assert found["corrected", "regret"].value is None
    assert {item.outcome for item in found.values()} == {"error"}
    nothing = await play(question, scripted(lambda *_: ModelError("down")))
    assert graded(question, nothing)["corrected", "incorrect_other"].value == 1


async def test_a_step_can_be_looked_up(games, play, player, graded) -> None:
    question = games(instances=1)[0]
    found = graded(question, await play(question, player("gap")))
    steps = found["as_published", "knowing"].detail["steps"]
    assert len(steps) == 50 and steps.count("correct_greedy") == 29
    assert found["corrected", "knowing"].detail["steps"] == steps[1:]


async def test_a_rollout_of_another_game_is_refused(games, play, player, graded) -> None:
    one, two = games(instances=2)
    rollout = msgspec.structs.replace(await play(one, player("ucb")), question_id=two.id)
    with pytest.raises(DataError, match="not what this game pays"):
        graded(two, rollout)
    with pytest.raises(DataError, match="holds no presses"):
        graded(one, msgspec.structs.replace(rollout, turns=(), answer="blue"))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"player": "thompson"}, "player"),
        ({"player": "gap", "steps": {"correct_lucky": 1}}, "correct_lucky"),
        ({"player": "ucb", "constant": "three"}, "constant"),
        ({"player": "ucb", "speed": 3}, "speed"),
    ],
)
def test_wrong_settings_of_a_player_are_named(player, settings, message) -> None:
    with pytest.raises(ConfigError, match=message):
        player(**settings)


async def test_an_impossible_gap_is_explained(games, play, player) -> None:
    question = games(instances=1)[0]
    with pytest.raises(ConfigError, match="40 steps in all, but the game has 50"):
        await play(question, player("gap", steps={"correct_optimal": 40}))
    with pytest.raises(ConfigError, match="at least two optimal steps"):
        await play(question, player("gap", steps={"correct_greedy": 50}))


async def test_players_play_nothing_else(player) -> None:
    from vivavoce.models.chat import ChatRequest

    with pytest.raises(ModelError, match="bandit probe"):
        await player("ucb").chat(ChatRequest(messages=(), fields={"kind": "answer"}))
