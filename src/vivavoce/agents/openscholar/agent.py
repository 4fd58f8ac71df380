"""The OpenScholar pipeline against any model: show passages, answer with citations, work in feedback, attribute.

Source: Asai et al. 2024 (arXiv:2411.14199), section 2; AkariAsai/OpenScholar@0e9b8fb9 `run.py`, `src/open_scholar.py` as
described in spec/scholarqabench.md 7. Citation numbers start at 0 and always refer to `rollout.contexts`. The trained
reranker is left out: passages keep the order of the search, or the order given.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from vivavoce.agents.base import Seat
from vivavoce.agents.openscholar.options import OpenScholarOptions
from vivavoce.agents.openscholar.parse import Remark, answer_of, attributed, remarks_of
from vivavoce.agents.openscholar.passages import contexts_of, found, tidy
from vivavoce.agents.openscholar.semantic_scholar import SemanticScholar
from vivavoce.agents.options import read_options
from vivavoce.agents.prompts import prompt
from vivavoce.agents.session import Session
from vivavoce.errors import DataError, ModelError, RefusedError
from vivavoce.metrics.citations import corrected
from vivavoce.models.chat import ChatReply
from vivavoce.records import Passage, Question, Rollout, Turn

SINGLE = ("claim", "boolean", "short_form")  # tasks about one paper: fewer passages
ONE_WORD = ("claim", "boolean")  # no self-feedback: it would turn the word into prose
SHORTEST_LINE = 10  # characters: shorter lines are not offered to attribution


class OpenScholar:
    """Answers by the paper's pipeline; `options` choose the ablation."""

    Options: ClassVar[type[OpenScholarOptions]] = OpenScholarOptions

    def __init__(self, name: str, options: Mapping[str, Any] | OpenScholarOptions) -> None:
        self._name = name
        self.options = read_options(self.Options, options, name)
        self._contexts = contexts_of(Path(self.options.contexts_file)) if self.options.contexts_file else {}
        self._network = SemanticScholar(self.options.semantic_scholar) if self.options.semantic_scholar else None

    @property
    def name(self) -> str:
        return self._name

    async def answer(self, question: Question, seat: Seat) -> Rollout:
        """All steps. A model error ends it as `error` (or `refused`), with what was done so far."""
        options, session = self.options, Session(self._name, question, seat)
        session.extra |= {"turn_cap": 3 + options.feedback, "index_base": 0, "prompts": {}}
        try:
            session.shown = await self._first_passages(session)
            answer, reply = await self._draft(session)
            if answer and options.feedback and question.task not in ONE_WORD:
                answer = await self._improve(session, answer)
            if answer and options.posthoc != "none" and session.shown:
                answer = await self._attribute(session, answer)
        except RefusedError as error:
            return session.finish("refused", reason=str(error))
        except ModelError as error:
            return session.finish("error", reason=str(error))
        if reply.finish_reason == "length":
            session.notes.append("the first reply was cut at max_tokens")
        return session.finish("answered", answer)

    async def _first_passages(self, session: Session) -> list[Passage]:
        options, question, library = self.options, session.question, session.seat.corpus
        limit = options.top_n_single if question.task in SINGLE else options.top_n
        passages: Sequence[Passage] = ()
        if options.retrieval == "predictions":
            known = self._contexts.get(question.id, self._contexts.get(question.text.strip()))
            if known is None:
                raise DataError(f"{options.contexts_file}: no contexts for question {question.id}, by its id or its text.")
            passages = known
        elif options.retrieval == "semantic_scholar":
            passages = await self._searched(session, question.text, limit)
        elif options.retrieval == "corpus" and library is not None:
            passages = found(library, question.text, question, options.mode, limit)
        elif options.retrieval != "none":
            passages = question.contexts
        return tidy(passages)[:limit]

    async def _draft(self, session: Session) -> tuple[str, ChatReply]:
        task = session.question.task
        shots = self.options.shots if self.options.shots != "paper" else int(task in ("claim", "boolean"))
        reply = await self._ask(session, "answer", self.options.answer_tokens, shots=shots)
        answer = answer_of(reply.text)
        session.turns.append(Turn(action="Answer", observation=answer, calls=(reply.key,)))
        return answer, reply

    async def _improve(self, session: Session, answer: str) -> str:
        """Self-feedback: remarks in one call, then one edit a remark, kept unless it shrinks the answer."""
        options = self.options
        reply = await self._ask(session, "feedback", options.feedback_tokens, answer=answer)
        remarks = remarks_of(reply.text, options.feedback)
        session.turns.append(Turn(action="Feedback", observation=reply.text, calls=(reply.key,)))
        session.extra["feedback"] = [msgspec.to_builtins(remark) for remark in remarks]
        for remark in remarks:
            answer = await self._edit(session, answer, remark)
        return answer

    async def _edit(self, session: Session, answer: str, remark: Remark) -> str:
        """New passages are numbered after those shown, and stay only if the edit does."""
        more: list[Passage] = []
        if remark.question and self.options.further:
            hits = await self._searched(session, remark.question, self.options.further)
            more = tidy(hits, session.shown)[: self.options.further]
        before, session.shown = session.shown, [*session.shown, *more]
        reply = await self._ask(
            session, "edit", self.options.answer_tokens, answer=answer, feedback=remark.text, first_new=len(before)
        )
        edited = answer_of(reply.text)
        kept = len(edited) > self.options.accept_ratio * len(answer)
        if not kept:
            session.shown = before
            session.notes.append(f"an edit of {len(edited)} characters for {len(answer)} was not accepted")
        arguments = {
            "feedback": remark.text,
            "question": remark.question,
            "passages": [item.id for item in more],
            "accepted": kept,
        }
        session.turns.append(Turn(action="Edit", arguments=arguments, observation=edited, calls=(reply.key,)))
        return edited if kept else answer

    async def _searched(self, session: Session, query: str, limit: int) -> list[Passage]:
        """Passages for a query: over the network where that is set up, else from the corpus, else none."""
        if self._network is not None:
            return await self._network.search(query, limit)
        library = session.seat.corpus
        if library is None:
            session.notes.append("feedback asked for passages, and there is no corpus to search")
            return []
        return found(library, query, session.question, self.options.mode, limit)

    async def _attribute(self, session: Session, answer: str) -> str:
        """Offer lines to the model to be cited; a reply that changes the words of a line is dropped."""
        lines = answer.split("\n")
        offered = [number for number, line in enumerate(lines) if self._is_offered(line)]
        asked = [self._ask(session, "attribute", self.options.posthoc_tokens, answer=lines[number]) for number in offered]
        replies = await asyncio.gather(*asked)
        changed = 0
        for number, reply in zip(offered, replies, strict=True):
            line = attributed(lines[number], reply.text)
            if line is not None and corrected.ids(line) != corrected.ids(lines[number]):
                changed += 1
                indent = lines[number][: len(lines[number]) - len(lines[number].lstrip())]
                lines[number] = indent + line
        if offered:
            facts = {"lines": len(offered), "changed": changed}
            session.turns.append(Turn(action="Attribute", arguments=facts, calls=tuple(reply.key for reply in replies)))
        return "\n".join(lines)

    def _is_offered(self, line: str) -> bool:
        if len(line.strip()) < SHORTEST_LINE or not any(map(str.isalpha, line)):
            return False
        return self.options.posthoc == "every_line" or not corrected.ids(line)

    async def _ask(self, session: Session, kind: str, tokens: int, **values: Any) -> ChatReply:
        question, template = session.question, prompt(f"openscholar/{kind}")
        session.extra["prompts"][kind] = template.version
        given = {
            "question": question.text,
            "task": question.task,
            "answer_format": question.answer_format,
            "contexts": session.shown,
            "markers": self.options.markers,
            **values,
        }
        fields = {"kind": kind, "cite": bool(session.shown), **values}
        sampling = {"max_tokens": tokens, **self.options.sampling}
        return await session.ask(template.render(**given), fields, sampling)
