"""How long a server asks to wait, in every form in use, and which failures are worth another attempt."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from multidict import CIMultiDict

from vivavoce.errors import RefusedError
from vivavoce.models.failures import ContextOverflowError
from vivavoce.models.retry import asked_wait, backoff, failed_body, failed_status

DATE = "Wed, 21 Oct 2015 07:28:00 GMT"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"Retry-After": "Wed, 21 Oct 2015 07:28:09 GMT", "Date": DATE}, 9.0),
        ({"Retry-After": "Wed, 21 Oct 2015 07:27:00 GMT", "Date": DATE}, 0.0),
        ({"retry-after-ms": "250", "Retry-After": "9"}, 0.25),
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1m30s"}, 90.0),
        (
            {"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "120ms", "x-ratelimit-reset-requests": "6m0s"},
            0.12,
        ),
        (
            {
                "x-ratelimit-remaining-tokens": "0",
                "x-ratelimit-reset-tokens": "2s",
                "x-ratelimit-remaining-requests": "0",
                "x-ratelimit-reset-requests": "5s",
            },
            5.0,
        ),
        (
            {
                "anthropic-ratelimit-requests-remaining": "0",
                "anthropic-ratelimit-requests-reset": "2015-10-21T07:28:03Z",
                "Date": DATE,
            },
            3.0,
        ),
        ({"X-RateLimit-Reset": "1445412483000", "Date": DATE}, 3.0),
        ({"X-RateLimit-Reset": "1445412484", "Date": DATE}, 4.0),
        ({"X-RateLimit-Reset": "12"}, 12.0),
        ({"x-ratelimit-remaining-tokens": "7", "x-ratelimit-reset-tokens": "2s"}, None),
        ({}, None),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "-5"}, None),
        ({"Retry-After": "nan"}, None),
        ({"Retry-After": ""}, None),
    ],
)
def test_the_wait_that_is_asked_for(headers: dict[str, str], seconds: float | None) -> None:
    wait = asked_wait(CIMultiDict(headers))
    assert wait == (None if seconds is None else pytest.approx(seconds))


@given(st.sampled_from(["Retry-After", "retry-after-ms", "X-RateLimit-Reset", "Date"]), st.text(max_size=30))
def test_no_header_can_crash_it_or_ask_for_a_negative_wait(name: str, value: str) -> None:
    wait = asked_wait(CIMultiDict({name: value}))
    assert wait is None or wait >= 0


@given(st.integers(0, 1000), st.integers())
def test_backoff_is_full_jitter_within_its_bounds_and_seeded(attempt: int, seed: int) -> None:
    wait = backoff(attempt, random.Random(seed))
    assert 0 <= wait <= min(60, 0.5 * 2 ** min(attempt, 20))
    assert wait == backoff(attempt, random.Random(seed))


@pytest.mark.parametrize(
    ("status", "body", "again"),
    [
        (400, b"", False),
        (401, b"", False),
        (402, b"", False),
        (403, b"", False),
        (404, b"", False),
        (422, b"", False),
        (408, b"", True),
        (409, b"", True),
        (429, b"", True),
        (429, b'{"error":{"code":"insufficient_quota"}}', False),
        (500, b"", True),
        (503, b"<html>", True),
        (529, b"", True),
    ],
)
def test_what_is_tried_again(status: int, body: bytes, again: bool) -> None:
    failed = failed_status(status, {}, body)
    assert failed.again is again and failed.limited is (status == 429)
    assert str(status) in str(failed.error)


@pytest.mark.parametrize(
    "message",
    [
        "This model's maximum context length is 8192 tokens. However, you requested 9000",  # OpenAI, vLLM
        "the request exceeds the available context size, try increasing it",  # llama.cpp
        "Please reduce the length of the messages",
    ],
)
def test_context_overflow_is_known_by_its_words(message: str) -> None:
    failed = failed_status(400, {}, f'{{"error":{{"message":"{message}"}}}}'.encode())
    assert isinstance(failed.error, ContextOverflowError) and not failed.again


def test_a_filtered_prompt_is_a_refusal() -> None:
    assert isinstance(failed_status(400, {}, b'{"error":{"code":"content_filter","message":"x"}}').error, RefusedError)


@pytest.mark.parametrize(
    "body",
    [b'{"detail":"no"}', b'{"error":"no"}', b'{"message":"no"}', b"<html><b>no</b></html>", b"no", b'["no"]', b"\xff no"],
)
def test_the_servers_words_are_passed_on_in_every_form(body: bytes) -> None:
    assert "no" in str(failed_status(400, {}, body).error)


def test_an_error_inside_a_200() -> None:
    assert failed_body(b'{"choices":[{"message":{"content":"an \\"error\\""}}]}') is None
    failed = failed_body(b'{"error":{"code":429,"message":"slow down"}}')
    assert failed is not None and failed.limited and failed.again
