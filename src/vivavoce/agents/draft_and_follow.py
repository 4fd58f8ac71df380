"""Draft and follow: a plan is drafted in one call, put into the task, and the loop runs with it.

Source: PaperGuide (arXiv:2601.12988), spec/paperguide.md 7. The draft is no turn; its text and usage stand in
`rollout.extra["draft"]`, apart from the rollout's own usage.
"""

from __future__ import annotations

from typing import ClassVar

import msgspec
from pydantic import Field

from vivavoce.agents.desk import Desk
from vivavoce.agents.prompts import prompt
from vivavoce.agents.session import Session, clean
from vivavoce.agents.tool_loop import ToolLoop, ToolLoopOptions
from vivavoce.records import Usage
from vivavoce.tools.tokens import cut


class DraftOptions(ToolLoopOptions):
    """`draft_tokens` bounds the plan that is put into the task."""

    draft_tokens: int = Field(default=512, ge=16)


_SEARCH = {
    "RetrieveFromDatabase": "Use RetrieveFromDatabase to find the table that reports the running times of both methods.",
    "RetrieveFromVectorstore": "Use RetrieveFromVectorstore to find where the running times of both methods are discussed.",
    "ClassicRetrieve": "Use ClassicRetrieve to find where the running times of both methods are discussed.",
    "CalculateExpr": "Use CalculateExpr to compute how many times faster the quicker one is.",
    "GenerateAnswer": "Use GenerateAnswer to name the faster method.",
}


class DraftAndFollow(ToolLoop):
    """A tool loop that drafts a plan first."""

    Options: ClassVar[type[DraftOptions]] = DraftOptions
    options: DraftOptions

    async def _plan(self, session: Session, desk: Desk) -> str:
        template = prompt("draft")
        steps = [text for name, text in _SEARCH.items() if name in desk.names]
        messages = template.render(**desk.values, example=steps)
        before, session.usage = session.usage, Usage()
        reply = await session.ask(messages, {"kind": "draft", **desk.fields}, self.options.sampling)
        plan = clean(cut(reply.text.strip(), self.options.draft_tokens))
        session.extra["draft"] = {"text": plan, "call": reply.key, "usage": msgspec.to_builtins(session.usage)}
        session.extra["prompts"] = {"draft": template.version}
        session.usage = before
        if not plan:
            session.notes.append("the draft was empty")
        return plan
