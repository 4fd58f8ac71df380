"""Reading a bandit player's reply: the button it chose, and the value that it gave each button.

Form (Schmied et al. 2025, appendix): values between <ucb_values> and </ucb_values>, then `ACTION=X`; the last of each counts.
Models write values in many ways, so lines, lists, JSON, tables, worked sums ending in `= value` and "all others: infinity" are
read; prose is not. Time is linear in the reply.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import lru_cache

_ACTION = re.compile(r"(?<![^\W_])ACTION[*_`]*\s{0,9}=\s{0,9}[\"'`*_<\[({]*(\w+)", re.I)
_TAG = re.compile(r"<(/?)ucb_values>", re.I)
_GROUP = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_NUMBER = re.compile(
    r"[\s\"'`*_$~|(]*(?:(?:approximately|approx\.?|about|roughly)\s+)?"
    r"(?P<sign>[-+]?)\s?(?P<number>\\?infty|infinit[ey]|infinity|inf|∞|\d++(?:\.\d*+)?+(?:e[-+]?\d++)?+|\.\d++(?:e[-+]?\d++)?+)"
    r"(?!\w)(?!\s*(?:[+*/×·^]|-\s*\d))",
    re.I,
)
_OTHERS = (
    r"(?:(?:all|every|the|any)\s+){0,2}(?:others?|remaining|rest|untried|unpressed)(?:\s+(?:buttons?|arms?|colou?rs?|ones?))?"
)
MAX_REPLY = 20_000  # characters, counted from the end: where the values and the choice stand


def last_part(text: str) -> str:
    """The part of a reply that is kept and read."""
    return text[-MAX_REPLY:]


def parse_action(text: str, arms: Sequence[str]) -> int | None:
    """The index of the button in the last `ACTION=X`; None without one, or where X is no button."""
    found = _ACTION.findall(last_part(text))
    names = {name.casefold(): index for index, name in enumerate(arms)}
    return names.get(found[-1].strip("_").casefold()) if found else None


def parse_values(text: str, arms: Sequence[str]) -> dict[int, float]:
    """The values of the last closed <ucb_values> block, by index of the button; empty where there is none to read.

    A button whose value is missing or no number (an unfinished sum, "undefined") is left out.
    """
    content = _block(last_part(text))
    values: dict[int, float] = {}
    others: float | None = None
    for line in re.split(r"[\n;]", content.replace("−", "-")):
        pending: list[int | None] = []
        heads = list(_heads(tuple(arms)).finditer(line))
        for position, head in enumerate(heads):
            end = heads[position + 1].start() if position + 1 < len(heads) else len(line)
            segment = line[head.end() : end]
            pending.append(_index(head["name"], arms))
            if not head["sep"] and _lists_on(segment) and position + 1 < len(heads):
                continue  # "red, pink: inf": the value comes after the last name
            value = _value(segment)
            if value is not None:
                others = value if None in pending else others
                values |= {index: value for index in pending if index is not None}
            pending = []
    if others is not None:
        values = {index: values.get(index, others) for index in range(len(arms))}
    return values


def _lists_on(segment: str) -> bool:
    """Whether nothing but a comma or an "and" stands between two names."""
    return segment.strip(" \t,&/\"'`*_|").casefold() in ("", "and")


def _block(text: str) -> str:
    opened: int | None = None
    content = ""
    for tag in _TAG.finditer(text):
        if not tag[1]:
            opened = tag.end()
        elif opened is not None:
            content, opened = text[opened : tag.start()], None
    return content


def _index(name: str, arms: Sequence[str]) -> int | None:
    """The button of a name; None for "all others"."""
    return next((index for index, arm in enumerate(arms) if arm.casefold() == name.casefold()), None)


@lru_cache(maxsize=32)
def _heads(arms: tuple[str, ...]) -> re.Pattern[str]:
    names = "|".join([*(re.escape(name) for name in sorted(arms, key=len, reverse=True)), _OTHERS])
    return re.compile(
        rf"(?<![^\W_])(?P<name>{names})(?![^\W_])[\"'`*_)\]]{{0,4}}\s{{0,4}}(?:buttons?|arms?)?\s{{0,4}}"
        r"(?:\([^()\n]{0,80}\))?[\"'`*_\s]{0,4}(?P<sep>[:=≈≃~|→]|->|\bis\b)?",
        re.I,
    )


def _value(segment: str) -> float | None:
    bare = segment
    for _ in range(6):  # brackets hold workings: "(n=4)", "sqrt(2 ln(11) / 4)"
        bare = _GROUP.sub("", bare)
    for text in (bare, segment):
        found = _NUMBER.match(text, 1 + max(text.rfind(sign) for sign in "=≈≃"))
        if found:
            number = found["number"].casefold()
            value = math.inf if "inf" in number or number == "∞" else float(number)
            return -value if found["sign"] == "-" else value
    return None
