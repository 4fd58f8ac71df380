"""What is taken off a reply before a verdict is looked for: thinking blocks, invisible characters, markup, fences."""

from __future__ import annotations

import re
import unicodedata

_THINK = r"(?:think|thinking|thought|reasoning|scratchpad)"
_CLOSED = re.compile(rf"<({_THINK})>(?:(?!<{_THINK}>).)*?</\1>", re.IGNORECASE | re.DOTALL)
_OPEN = re.compile(rf"<{_THINK}>", re.IGNORECASE)
_CLOSE = re.compile(rf"</{_THINK}>", re.IGNORECASE)
_INLINE = re.compile(r"```(?:[A-Za-z]+\s+)?(.*?)```")
_INVISIBLE = re.compile("[\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060\ufeff]")
_QUOTES = str.maketrans(
    {"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "−": "-", "–": "-", "—": " - ", "。": ".", "【": "[", "】": "]"}
)


def strip_thinking(text: str) -> tuple[str, bool]:
    """Remove thinking blocks; the flag says that one was opened and never closed (the reply was cut).

    A closing tag without an opening one ends a block that the chat template opened (DeepSeek-R1): all before it goes.
    """
    while True:
        text, count = _CLOSED.subn("", text)
        if not count:
            break
    closes = list(_CLOSE.finditer(text))
    if closes:
        text = text[closes[-1].end() :]
    return text, _OPEN.search(text) is not None


def plain(text: str) -> str:
    """Text for word verdicts: full-width forms narrowed (NFKC), invisible characters out, quotes and dashes plain."""
    return unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).translate(_QUOTES).replace("\r\n", "\n").replace("\r", "\n")


def visible(text: str) -> str:
    """Text without invisible characters, otherwise untouched: what JSON strings hold is kept as it is."""
    return _INVISIBLE.sub("", text)


def fences(text: str) -> tuple[list[str], str, bool]:
    """Bodies of the fenced blocks, the text outside of them, and whether the last block never ends.

    A block opens and closes with three backticks (or tildes) at the start of a line, or stands on one line; the word after the
    opening marks is its language.
    """
    bodies: list[str] = []
    outside: list[str] = []
    inside: list[str] | None = None
    mark = ""
    for line in text.split("\n"):
        bare = line.strip()
        if inside is None:
            one = re.fullmatch(r"(```|~~~)(?:[A-Za-z]+\s+)?(.*?)\1", bare)
            if one and one[2].strip():
                bodies.append(one[2].strip())
            elif bare.startswith(("```", "~~~")):
                inside, mark = [], bare[:3]
            else:
                bodies += [body.strip() for body in _INLINE.findall(line)]
                outside.append(_INLINE.sub(" ", line))
        elif bare.endswith(mark):
            inside.append(bare[:-3])
            bodies.append("\n".join(inside).strip())
            inside = None
        else:
            inside.append(line)
    if inside is not None:
        bodies.append("\n".join(inside).strip())
    return bodies, "\n".join(outside), inside is not None
