"""The offline baseline's part in self-feedback and attribution: what a draft leaves out, a sentence more, a number where one
fits.

It serves requests of kind `feedback`, `edit` and `attribute` (see `agents/openscholar`), so that the whole pipeline runs
offline.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vivavoce.models.extractive_text import pieces_of, rank, words

ENOUGH = 0.6  # share of a sentence's words that a passage must hold to be cited for it


def revise(fields: Mapping[str, Any]) -> str:
    """The reply to a request of kind `feedback`, `edit` or `attribute`."""
    match fields["kind"]:
        case "feedback":
            return _feedback(fields["question"], fields["answer"])
        case "edit":
            return _edit(fields)
    return _attribute(fields["answer"], fields["contexts"])


def _feedback(question: str, answer: str) -> str:
    """One remark: the question's words that the draft does not take up."""
    said = set(words(answer))
    missing = [word for word in dict.fromkeys(words(question)) if word not in said]
    if not missing:
        return "none"
    listed = " ".join(missing[:6])
    return f"Feedback: The draft does not take up: {listed}. Question: {listed}"


def _edit(fields: Mapping[str, Any]) -> str:
    """The draft and the sentence nearest to the remark that it does not hold, new passages first."""
    answer, first_new = fields["answer"], fields.get("first_new", 0)
    ranked = [item for item in rank(fields["feedback"], fields["contexts"]) if item.score > 0 and item.text not in answer]
    fresh = [item for item in ranked if item.passage >= first_new] or ranked
    if not fresh:
        return str(answer)
    return f"{answer} {_cited(fresh[0].text, fresh[0].passage)}"


def _attribute(piece: str, contexts: Sequence[Mapping[str, Any]]) -> str:
    """The piece with a number in each uncited sentence that a passage covers."""
    bags = [set(words(str(context.get("text", "")))) for context in contexts]
    done = []
    for sentence in pieces_of(piece):
        wanted = set(words(sentence))
        shares = [len(wanted & bag) / len(wanted) if wanted else 0.0 for bag in bags]
        best = max(range(len(shares)), key=lambda number: (shares[number], -number), default=0)
        cites = "[" not in sentence and bool(shares) and shares[best] >= ENOUGH
        done.append(_cited(sentence, best) if cites else sentence)
    return " ".join(done)


def _cited(sentence: str, passage: int) -> str:
    bare = sentence.rstrip(".!? ")
    return f"{bare} [{passage}]{sentence[len(bare) :].strip() or '.'}"
