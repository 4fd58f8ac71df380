"""Reads what an answer says, however it is written: text without wrapping, numbers, truth values, lists, dicts.

These are this project's rules for the `corrected` profile, applied to answers and golds alike. Reading never raises; what
cannot be read is None.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from decimal import Decimal
from typing import Any

from vivavoce.metrics.literals import json_value, python_literal

_FENCE = re.compile(r"```(?:[\w+-]*[ \t]*\r?\n|(?:json|python|py|txt|text|markdown|md|latex|tex|yaml)\s)?(.*?)```", re.DOTALL)
_TRANSLATION = str.maketrans(
    dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212\ufe63\uff0d", "-")
    | dict.fromkeys("\u2018\u2019\u201a\u201b", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f", '"')
    | dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff", "")
)
_FINAL = ".,;:!?…。"
_QUOTES = "\"'`"
_LONGEST = 20_000  # a longer text is not unwrapped: no gold is as long, and nested wrapping would cost its square
_NUMBER = re.compile(
    r"(?P<sign>[+-]?)\s?(?:\\?[$€£¥]\s?)?(?P<inner>[+-]?)(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d*)?|\d{1,3}(?: \d{3})+(?:\.\d*)?"
    r"|\d+\.?\d*|\.\d+)(?P<power>[eE][+-]?\d{1,4})?\s?(?:\\?%|percent|\\?[$€£¥])?"
)
_SPECIAL = {"nan": math.nan, "inf": math.inf, "infinity": math.inf, "-inf": -math.inf, "-infinity": -math.inf}
_TRUTH = dict.fromkeys(("true", "1", "yes", "y", "t"), True) | dict.fromkeys(("false", "0", "no", "n", "f"), False)

Number = Decimal | float | int


def normal(value: Any) -> str:
    """The text of `value` without fences, enclosing quotes, final punctuation and doubled blanks; NFC, plain dashes and quotes.

    Each rule applies only where it leaves something, until none applies: `normal(normal(x)) == normal(x)`.
    """
    text = str(value)
    while (shorter := _step(text)) != text:
        text = shorter
    return text


def unfenced(text: str) -> str:
    """The inside of a text that is one fenced block; any other text stripped."""
    stripped = text.strip()
    if stripped.startswith("```") and stripped.endswith("```") and (match := _FENCE.fullmatch(stripped)):
        return match[1].strip() or stripped
    return stripped


def number(value: Any) -> Number | None:
    """A number from a number or a text such as "1,234", "45 %", "$5", "-3" with a Unicode minus, "1e-6". Booleans are none.

    A percent sign is dropped, not divided by: AirQA's formats ask for percentages as plain numbers.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float, Decimal)):
        return value
    if not isinstance(value, str):
        return None
    text = normal(value)
    if text.casefold() in _SPECIAL:
        return _SPECIAL[text.casefold()]
    match = _NUMBER.fullmatch(text) if len(text) <= 400 else None
    if match is None or (match["sign"] and match["inner"]):
        return None
    digits = match["digits"].replace(",", "").replace(" ", "")
    return Decimal(match["sign"] + match["inner"] + digits + (match["power"] or ""))


def boolean(value: Any) -> bool | None:
    """A truth value from a boolean, 0 or 1, or one of true, yes, y, t, 1 and their opposites as the whole text."""
    if isinstance(value, (bool, int, float)):
        return bool(value) if value in (0, 1) else None
    return _TRUTH.get(normal(value).casefold()) if isinstance(value, str) else None


def sequence(value: Any) -> list[Any] | None:
    """A list from a list, tuple or set, or from a text that holds one as Python or JSON, or as `[a, b]` without quotes."""
    found = _structure(value, 3)
    if isinstance(found, (set, frozenset)):
        return sorted(found, key=str)
    if isinstance(found, (list, tuple)):
        return list(found)
    if isinstance(value, str) and (match := re.fullmatch(r"\[([^\[\]{}\"]*)\]", unfenced(value))):
        return [item.strip() for item in match[1].split(",")]
    return None


def mapping(value: Any) -> dict[Any, Any] | None:
    """A dict from a dict or from a text that holds one as Python or JSON."""
    found = _structure(value, 3)
    return found if isinstance(found, dict) else None


def flag(value: Any) -> bool:
    """A switch of a record, which may be written as text ("true")."""
    return bool(boolean(value)) if isinstance(value, str) else bool(value)


def _structure(value: Any, times: int) -> Any:
    """The object that a text holds; a text that holds a text is read again, at most `times`."""
    if not isinstance(value, str):
        return value
    text = unfenced(value)
    for candidate in dict.fromkeys((text, text.translate(_TRANSLATION), text.rstrip(_FINAL))):
        for parse in (json_value, _with_json_names):
            try:
                found = parse(candidate)
            except ValueError:
                continue
            if isinstance(found, str):
                return _structure(found, times - 1) if times and found != value else None
            return found
    return None


def _with_json_names(text: str) -> Any:
    return python_literal(text, json_names=True)


def _step(text: str) -> str:
    if len(text) <= _LONGEST:
        text = _unquoted(unfenced(text))
    text = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).translate(_TRANSLATION))
    text = " ".join(text.split())
    return text.rstrip(_FINAL).rstrip() or text


def _unquoted(text: str) -> str:
    """The text between enclosing quotes, escapes read where it is a JSON or Python string."""
    if len(text) < 3 or text[0] != text[-1] or text[0] not in _QUOTES:
        return text
    inner = text[1:-1]
    if "\\" in inner and text[0] != "`":
        for parse in (_json_string, python_literal):
            try:
                value = parse(text)
            except ValueError:
                continue
            return value if isinstance(value, str) and value.strip() else text
    return inner if text[0] not in inner and inner.strip() else text


def _json_string(text: str) -> Any:
    return json.loads(text, strict=False)
