"""What an experiment will cost, as a range, before any call is made: calls, tokens and US dollars.

Tokens are reckoned from characters: English and code run at 3 to 5 characters a token over the tokenizers in use.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from vivavoce.config.model import ModelConfig
from vivavoce.models.chat import ChatRequest
from vivavoce.models.client import IMAGE_TOKENS, UNBOUNDED

CHARACTERS = (5.0, 3.0)  # a token, at the fewest and at the most tokens
SHORT_REPLY = 16  # tokens: an answer of a few words


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """Each field is (low, high). `cost` is in US dollars, None where the price is unknown."""

    calls: tuple[int, int] = (0, 0)
    prompt_tokens: tuple[int, int] = (0, 0)
    completion_tokens: tuple[int, int] = (0, 0)
    cost: tuple[float, float] | None = (0.0, 0.0)

    def __add__(self, other: Estimate) -> Estimate:
        cost = None
        if self.cost is not None and other.cost is not None:
            cost = (self.cost[0] + other.cost[0], self.cost[1] + other.cost[1])
        return Estimate(
            calls=_sum(self.calls, other.calls),
            prompt_tokens=_sum(self.prompt_tokens, other.prompt_tokens),
            completion_tokens=_sum(self.completion_tokens, other.completion_tokens),
            cost=cost,
        )

    def __str__(self) -> str:
        money = "price unknown" if self.cost is None else f"${self.cost[0]:,.2f} to ${self.cost[1]:,.2f}"
        return (
            f"{_range(self.calls)} calls, {_range(self.prompt_tokens)} prompt tokens, "
            f"{_range(self.completion_tokens)} completion tokens, {money}"
        )


def estimate(
    config: ModelConfig, prompt_characters: Iterable[int], *, turns: int = 1, observation_characters: int = 0, samples: int = 1
) -> Estimate:
    """The range for one stage over questions whose first prompts have so many characters each.

    Low: each question takes one call and a short reply. High: each takes `turns` calls, every reply is `max_tokens`
    long, and every prompt repeats all earlier replies and observations (of `observation_characters` each), up to the
    context length. Replies that are in the store already cost nothing, so a resumed run costs less.
    """
    most_reply = config.max_tokens or config.context_length or UNBOUNDED
    few, many = CHARACTERS
    questions = low_prompt = high_prompt = 0
    for characters in prompt_characters:
        questions += samples
        low_prompt += samples * int(characters / few)
        for turn in range(turns):
            grown = int(characters / many) + turn * (most_reply + int(observation_characters / many))
            high_prompt += samples * min(grown, config.context_length or grown)
    low_reply, high_reply = questions * min(SHORT_REPLY, most_reply), questions * turns * most_reply
    price = config.price
    return Estimate(
        calls=(questions, questions * turns),
        prompt_tokens=(low_prompt, high_prompt),
        completion_tokens=(low_reply, high_reply),
        cost=None if price is None else (price.of(low_prompt, low_reply), price.of(high_prompt, high_reply)),
    )


def request_characters(request: ChatRequest) -> int:
    """How long a request's prompt is, in characters; an image counts as what its tokens would."""
    messages = sum(
        len(message.content) + len(message.images) * int(IMAGE_TOKENS * CHARACTERS[1]) for message in request.messages
    )
    return messages + (len(msgspec.json.encode(request.tools)) if request.tools else 0)


def _sum(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    return one[0] + other[0], one[1] + other[1]


def _range(pair: tuple[int, int]) -> str:
    return f"{pair[0]:,}" if pair[0] == pair[1] else f"{pair[0]:,} to {pair[1]:,}"
