"""The published rules that read a judge's reply."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from vivavoce.metrics.airqa.verdict import published_selection, published_verdict


def _by_pattern(text: str) -> bool:
    """The rule as one pattern, as the specification words it."""
    found = re.findall(r"```(?:txt)?\s+(.*?)\s+```", text, re.DOTALL)
    return bool(found) and found[-1].lower() == "true"


PIECES = st.lists(st.sampled_from(["```", "`", "txt", "True", "\n", " ", "a", "false"]), max_size=14).map("".join)


@given(PIECES)
@example("```txt\nTrue\n```")
@example("```  ```")
@example("``` \n```\nTrue\n```")
@example("````\nTrue\n```")
@settings(max_examples=400, deadline=None)
def test_equals_the_pattern(text: str) -> None:
    assert published_verdict(text) is _by_pattern(text)


def test_takes_linear_time() -> None:
    start = time.process_time()
    for text in ("```" + " " * 100_000, "``` a" * 30_000, " " * 100_000 + "```", "```txt\n" + "\n" * 100_000 + "True"):
        assert not published_verdict(text)
    assert time.process_time() - start < 2


def test_selection_takes_the_first_braces() -> None:
    assert published_selection('so {"selection": "0.5"} or {"selection": "1"}') == 0.5
    for text in ("1", '{"grade": 1}', '{"selection": "good"}', "{selection: 1}", "}{"):
        with pytest.raises((TypeError, ValueError, KeyError)):
            published_selection(text)
