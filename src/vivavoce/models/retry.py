"""When a failed call is tried again, and how long to wait: full jitter, Retry-After, and the vendors' own headers."""

from __future__ import annotations

import datetime
import random
import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

import msgspec

from vivavoce.errors import ModelError, RefusedError
from vivavoce.models.failures import CallError, ContextOverflowError

AGAIN = {408, 409, 425, 429}  # and every 5xx
OVERFLOW = re.compile(
    r"context_length_exceeded|maximum context length|context (window|size|length)|exceed_context_size|prompt is too long"
    r"|too many (input )?tokens|reduce the length",
    re.IGNORECASE,
)
DECLINED = re.compile(
    r"content_filter|content_policy|content management policy|responsibleaipolicy|moderation|flagged", re.IGNORECASE
)
SPENT = re.compile(r"insufficient_quota|billing_hard_limit|insufficient (credits|balance)", re.IGNORECASE)
UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
HINTS = {
    401: "check the key in the variable that api_key_env names",
    402: "the account has no credit left",
    403: "the key may not use this model",
    404: "check base_url (it ends in /v1 for most servers) and the model's id",
}


class AttemptError(Exception):
    """An attempt that failed. `error` is what the caller is told if it is the last one."""

    def __init__(
        self, error: ModelError, *, again: bool, wait: float | None = None, limited: bool = False, paid: bool = False
    ) -> None:
        super().__init__(str(error))
        self.error = error
        self.again = again
        self.wait = wait  # seconds that the server asked for
        self.limited = limited  # 429: too many calls
        self.paid = paid  # the server may have done (and billed) the work


def failed_status(status: int, headers: Mapping[str, str], body: bytes) -> AttemptError:
    """What a reply with an error status means."""
    text, code = _message(body)
    told = f"the server said {status}: {text}" if text else f"the server said {status}"
    if status < 500 and status != 429:
        if DECLINED.search(f"{code} {text}") and status in (400, 403, 422):
            return AttemptError(RefusedError(told), again=False)
        if status == 413 or (status in (400, 422) and OVERFLOW.search(f"{code} {text}")):
            return AttemptError(ContextOverflowError(told, status), again=False)
    if 300 <= status < 400:
        told = f"the server sends on to {headers.get('Location', 'another address')!r}: put that into base_url"
    elif hint := HINTS.get(status):
        told += f" ({hint})"
    again = (status in AGAIN or status >= 500) and not SPENT.search(f"{code} {text}")
    wait = asked_wait(headers) if again else None
    return AttemptError(CallError(told, status), again=again, wait=wait, limited=status == 429)


def backoff(attempt: int, rng: random.Random, *, base: float = 0.5, most: float = 60.0) -> float:
    """Full jitter: uniform in 0..min(most, base * 2**attempt) seconds; attempt counts from 0."""
    return rng.uniform(0.0, min(most, base * 2.0 ** min(attempt, 20)))


def asked_wait(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server asks to wait, or None: retry-after-ms, Retry-After (seconds or a date), else the reset times.

    Dates are read against the server's own Date header, for its clock may differ from ours. Of the reset headers only
    those count whose limit is used up (`remaining` is 0).
    """
    now = _date(headers.get("Date")) or datetime.datetime.now(datetime.UTC)
    if (ms := _number(headers.get("retry-after-ms"))) is not None:
        return ms / 1000
    if (after := headers.get("Retry-After")) is not None and (wait := _wait(after, now)) is not None:
        return wait
    waits = []
    for prefix in ("x-ratelimit", "anthropic-ratelimit"):
        for unit in ("requests", "tokens", "input-tokens", "output-tokens"):
            names = [
                (f"{prefix}-remaining-{unit}", f"{prefix}-reset-{unit}"),
                (f"{prefix}-{unit}-remaining", f"{prefix}-{unit}-reset"),
            ]
            waits += [_wait(headers[reset], now) for left, reset in names if headers.get(left) == "0" and reset in headers]
    if not waits and "X-RateLimit-Reset" in headers:
        waits = [_wait(headers["X-RateLimit-Reset"], now)]
    return max((wait for wait in waits if wait is not None), default=None)


def _wait(value: str, now: datetime.datetime) -> float | None:
    """A wait in one of the forms in use: 2.5, 6m0s, 120ms, an HTTP or ISO date, seconds or milliseconds since 1970."""
    number = _number(value)
    if number is not None:
        if number > 1e11:
            number /= 1000
        return max(0.0, number - now.timestamp() if number > 1e8 else number)
    if parts := re.findall(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)", value):
        return float(sum(float(count) * UNITS[unit] for count, unit in parts)) if _only(value) else None
    date = _date(value)
    return None if date is None else max(0.0, (date - now).total_seconds())


def _only(value: str) -> bool:
    return re.fullmatch(r"(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+", value.strip()) is not None


def _number(value: str | None) -> float | None:
    try:
        number = float(value) if value is not None else None
    except ValueError:
        return None
    return number if number is not None and 0 <= number < 1e15 else None  # neither negative nor nan


def _date(value: str | None) -> datetime.datetime | None:
    if not value:
        return None
    for read in (parsedate_to_datetime, datetime.datetime.fromisoformat):
        try:
            date = read(value)
        except (ValueError, TypeError):
            continue
        return date if date.tzinfo else date.replace(tzinfo=datetime.UTC)
    return None


def _message(body: bytes) -> tuple[str, str]:
    """(message, code and type) of an error body in any of the usual forms; of an HTML page its first words."""
    try:
        value: Any = msgspec.json.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        text = re.sub(r"<[^>]*>", " ", body[:2000].decode("utf-8", "replace"))
        return " ".join(text.split())[:300], ""
    error = value.get("error", value) if isinstance(value, dict) else value
    if not isinstance(error, dict):
        return str(error)[:300], ""
    return str(error.get("message") or error.get("detail") or error)[:300], f"{error.get('code', '')} {error.get('type', '')}"


def failed_body(body: bytes) -> AttemptError | None:
    """A 200 reply whose body is an error after all (proxies do so once they have begun to answer); None if it is not one."""
    if b'"error"' not in body[:200]:
        return None
    try:
        value = msgspec.json.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    if not isinstance(value, dict) or not isinstance(value.get("error"), dict) or value.get("choices"):
        return None
    code = value["error"].get("code")
    return failed_status(code if isinstance(code, int) and 300 <= code < 600 else 500, {}, body)
