"""The toy's scorer."""

from __future__ import annotations


def same(answer: str, word: str, *, fold: bool) -> bool:
    """Whether the answer is the word."""
    return answer.lower() == word.lower() if fold else answer == word
