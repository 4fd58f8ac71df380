"""What an agent's turns say about its economy: how many, how many failed, and whether it went round in a loop.

Every action call is a turn: the terminal one and unparsable ones included, a draft (made before the loop) not. Sources:
PaperGuide, arXiv:2601.12988; OpenDFM/NeuSym-RAG@596e644e counts `len(messages) // 2 - 1`, which is the same number.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from typing import Any

from vivavoce.files import canonical
from vivavoce.records import Turn

STUCK_AT = 3  # repeats of one action from which a rollout without a valid answer counts as stuck


def error_rate(turns: Sequence[Turn]) -> float:
    """Share in 0..1 of turns whose action could not be parsed or run; 0 where there are no turns."""
    return sum(bool(turn.error) for turn in turns) / len(turns) if turns else 0.0


def longest_repeat(turns: Sequence[Turn]) -> int:
    """How often the most repeated action was taken (0 without turns, 1 where none repeats).

    Occurrences need not be adjacent, so that a loop of two alternating actions is seen. Equal is: the same action with the
    same normalised arguments (case, blanks and the order of names make no difference, 5 is 5.0); for an unparsable reply, the
    same text.
    """
    return max(Counter(map(action_key, turns)).values(), default=0)


def stuck(turns: Sequence[Turn], valid: bool, at: int = STUCK_AT) -> bool:
    """Whether the agent gave no valid answer and took one action `at` times or more."""
    return not valid and longest_repeat(turns) >= at


def action_key(turn: Turn) -> str:
    """What makes two actions the same: name and normalised arguments (of an unparsable reply, its text)."""
    rest = turn.arguments if turn.action else [turn.arguments, turn.thought]
    return f"{turn.action.casefold()} {canonical(_normal(rest))}"


def _normal(value: Any) -> Any:
    if isinstance(value, str):
        return " ".join(unicodedata.normalize("NFKC", value).casefold().split())
    if isinstance(value, dict):
        return {str(key): _normal(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_normal(item) for item in value]
    return value
