"""Entailment by a judge: drives the citation scorers of both profiles with one stream of `entailment` requests.

Both profiles ask in the same batches, so that a pair that both need is asked once. They read the reply differently (C18 of
docs/divergences.md): as published, a reply counts as support only if it is exactly "Attributable"
(AttrScore's word) or a plain `supported` verdict, and an unparsable one counts as no support; corrected, it leaves the answer
unscored.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import TypeVar

from vivavoce.metrics.citations.scoring import Asking, Pair
from vivavoce.records import JudgeReply, JudgeRequest, Profile

T = TypeVar("T")
Replies = dict[Profile, list[JudgeReply]]


def entail(
    scorers: Mapping[Profile, Asking[T]],
) -> Generator[list[JudgeRequest], list[JudgeReply], tuple[dict[Profile, T], Replies]]:
    """Run a scorer a profile side by side; returns what each found, and the replies that it was sent."""
    results: dict[Profile, T] = {}
    heard: Replies = {profile: [] for profile in scorers}
    asked: dict[Profile, list[Pair]] = {}

    def advance(profile: Profile, replies: list[JudgeReply] | None) -> None:
        asked.pop(profile, None)
        scorer = scorers[profile]
        try:
            if replies is None:
                asked[profile] = next(scorer)
            else:
                heard[profile] += replies
                asked[profile] = scorer.send([supports(reply, profile) for reply in replies])
        except StopIteration as end:
            results[profile] = end.value

    for profile in scorers:
        advance(profile, None)
    while asked:
        pairs = [pair for batch in asked.values() for pair in batch]
        replies = yield [JudgeRequest(task="entailment", fields={"passage": p, "claim": c}) for p, c in pairs]
        rest = list(replies)
        for profile, batch in list(asked.items()):
            advance(profile, rest[: len(batch)])
            del rest[: len(batch)]
    return results, heard


def supports(reply: JudgeReply, profile: Profile) -> bool | None:
    """Whether a reply says that the passage supports the claim; None where nothing can be read from it."""
    if profile == "as_published" and reply.text:
        if "attributable" in reply.text.lower():
            return reply.text == "Attributable"
        return bool(reply.verdict == "supported")
    return None if reply.verdict is None else bool(reply.verdict == "supported")
