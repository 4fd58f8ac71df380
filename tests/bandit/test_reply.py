"""Reading replies: the asked form, the forms that models use instead, and garbage."""

from __future__ import annotations

import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vivavoce.metrics.bandit_reply import MAX_REPLY, parse_action, parse_values

ARMS = ("blue", "green", "red")
INF = math.inf


@pytest.mark.parametrize(
    ("text", "arm"),
    [
        ("ACTION=green", 1),
        ("I thought of ACTION=red first.\nACTION=blue", 0),
        ("**ACTION=Blue**", 0),
        ("Action = `red`.", 2),
        ("ACTION=<green>", 1),
        ("ACTION=\n", None),
        ("ACTION=purple", None),
        ("ACTION=blue, or rather ACTION=purple", None),  # the last one counts, right or wrong
        ("REACTION=blue", None),
        ("press blue", None),
        ("", None),
    ],
)
def test_actions(text: str, arm: int | None) -> None:
    assert parse_action(text, ARMS) == arm


@pytest.mark.parametrize(
    ("content", "values"),
    [
        ("blue = 1.17\ngreen = 1.47\nred = inf", {0: 1.17, 1: 1.47, 2: INF}),
        ("- **blue**: 1.17\n- **green**: 1.47\n- **red**: infinity", {0: 1.17, 1: 1.47, 2: INF}),
        ("blue: 0.49 + sqrt(2*ln(11)/4) = 1.585 (n=4)", {0: 1.585}),
        ("UCB(blue) ≈ 1.2; UCB_green = -0.5; red → ∞", {0: 1.2, 1: -0.5, 2: INF}),
        ('{"blue": 1.2, "green": 2, "red": 3e-1}', {0: 1.2, 1: 2.0, 2: 0.3}),
        ("| button | value |\n| blue | 1.5 |\n| green | $\\infty$ |", {0: 1.5, 1: INF}),
        ("Button blue is about 1.5", {0: 1.5}),
        ("blue = 1.5\nall other buttons: infinity", {0: 1.5, 1: INF, 2: INF}),
        ("green, red: inf\nblue: −1.5", {0: -1.5, 1: INF, 2: INF}),
        ("green and red = infinite", {1: INF, 2: INF}),
        ("BLUE=1\nblue=2", {0: 2.0}),
        ("blue = 0.49 + 1.09", {}),  # an unfinished sum has no value
        ("blue = undefined\ngreen = 1", {1: 1.0}),
        ("blue is the best", {}),
        ("bluebell = 3\n1.2", {}),
        ("blue =\ngreen = 1.0", {1: 1.0}),
        ("", {}),
    ],
)
def test_values(content: str, values: dict[int, float]) -> None:
    assert parse_values(f"UCB adds a bonus: blue = 9.\n<ucb_values>{content}</ucb_values>\nACTION=blue", ARMS) == values


def test_the_last_closed_block_counts() -> None:
    first, second = "<ucb_values>blue = 1</ucb_values>", "<UCB_VALUES>\nblue = 2\n</UCB_VALUES>"
    assert parse_values(first + second, ARMS) == {0: 2.0}
    assert parse_values(first + "<ucb_values>blue = 3", ARMS) == {0: 1.0}


@pytest.mark.parametrize("text", ["", "blue = 1", "<ucb_values>blue = 1", "blue = 1</ucb_values>"])
def test_without_a_block_there_are_no_values(text: str) -> None:
    assert parse_values(text, ARMS) == {}


PIECES = [*'bluegrnd=:|()∞0.5e-\n ;,*_<>/\\{}"', "blue", "green ", "inf", "= ", "ACTION", "others"]


@given(st.lists(st.sampled_from(PIECES)).map("".join))
def test_garbage_is_read_or_left_out(text: str) -> None:
    values = parse_values(f"<ucb_values>{text}</ucb_values>", ARMS)
    assert set(values) <= {0, 1, 2}
    assert not any(math.isnan(value) for value in values.values())
    assert parse_action(text, ARMS) in (None, 0, 1, 2)


@given(st.dictionaries(st.sampled_from(range(3)), st.floats(allow_nan=False), min_size=1))
def test_what_was_written_is_read(values: dict[int, float]) -> None:
    lines = "\n".join(f"{ARMS[arm]} = {value!r}" for arm, value in values.items())
    assert parse_values(f"<ucb_values>\n{lines}\n</ucb_values>", ARMS) == values


@pytest.mark.parametrize(
    "piece",
    ["<ucb_values>", "blue ", "blue" + " " * 900, "(", "[(", "=", "1", " ", "ACTION ", "all all ", "blue=((1)", "_*", "`'"],
)
def test_time_stays_small(piece: str) -> None:
    text = "<ucb_values>" + piece * (2 * MAX_REPLY // len(piece)) + "x</ucb_values>"
    started = time.process_time()
    parse_values(text[-MAX_REPLY:].replace("</", "<ucb_values></", 1), ARMS)
    parse_values("<ucb_values>blue" + text[-(MAX_REPLY - 100) :], ARMS)
    parse_action(text, ARMS)
    assert time.process_time() - started < 1
