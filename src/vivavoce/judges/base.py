"""The interface between graders and judges, and the loop that drives one with the other."""

from __future__ import annotations

import asyncio
from typing import Protocol

from vivavoce.files import canonical
from vivavoce.grading.base import Grading
from vivavoce.records import Judgement, JudgeReply, JudgeRequest


class Judge(Protocol):
    """Answers requests, many at once. Never raises for one bad reply: `JudgeReply.error` says why there is no verdict."""

    @property
    def name(self) -> str: ...

    async def ask(self, request: JudgeRequest) -> JudgeReply: ...


async def run_grading(grading: Grading, judge: Judge) -> list[Judgement]:
    """Drive a grader to its end: the requests of a batch are asked concurrently, equal requests once."""
    known: dict[str, JudgeReply] = {}
    try:
        batch = next(grading)
        while True:
            keys = [f"{request.task} {canonical(request.fields)}" for request in batch]
            new = {key: request for key, request in zip(keys, batch, strict=True) if key not in known}
            replies = await asyncio.gather(*(judge.ask(request) for request in new.values()))
            known.update(zip(new, replies, strict=True))
            batch = grading.send([known[key] for key in keys])
    except StopIteration as end:
        return list(end.value)
