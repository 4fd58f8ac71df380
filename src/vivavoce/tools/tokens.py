"""How long a text is for a model: a counter that needs no vocabulary, and cutting by it.

Upstream counts with tiktoken's cl100k_base, whose vocabulary is downloaded at run time. The plain counter takes four
characters for a token, which is close for English prose and too small for tables and other scripts; any
`Callable[[str], int]` may be passed in its place.
"""

from __future__ import annotations

from collections.abc import Callable

Counter = Callable[[str], int]
CHARACTERS = 4


def plain_count(text: str) -> int:
    """Tokens of a text, taken as one for each four characters, rounded up."""
    return -(-len(text) // CHARACTERS)


def cut(text: str, tokens: int, count: Counter = plain_count) -> str:
    """The longest beginning of `text` that counts at most `tokens`, found by bisection."""
    if count(text) <= tokens:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if count(text[:middle]) <= tokens:
            low = middle
        else:
            high = middle - 1
    return text[:low]
