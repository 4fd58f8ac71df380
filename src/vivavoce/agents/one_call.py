"""Agents that answer in one call: they differ only in the passages that they show.

Source: the trivial and classic baselines of NeuSym-RAG (arXiv:2505.19754, table 2; spec/airqa.md 4.7). `Lead` is our own.
Passages given with a question are shown as they are, except by `QuestionOnly`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field

from vivavoce.agents.base import Seat
from vivavoce.agents.options import Options, read_options
from vivavoce.agents.prompts import prompt
from vivavoce.agents.session import CITED_TASKS, Session, venues
from vivavoce.corpus.base import SearchMode
from vivavoce.models.chat import ChatReply
from vivavoce.models.sentences import first_sentences
from vivavoce.records import Passage, Question, Rollout, Turn
from vivavoce.tools.parse import last_block
from vivavoce.tools.parse_published import extract
from vivavoce.tools.search import classic_place, hit_passage
from vivavoce.tools.tokens import cut, plain_count


class OneCallOptions(Options):
    """`tokens` bounds all passages together; `given` how many of the question's own passages are shown."""

    parsing: Literal["corrected", "as_published"] = "corrected"
    tokens: int = Field(default=5000, ge=1)
    given: int = Field(default=10, ge=0)


class OneCall:
    """The common part: render, ask, and read the answer."""

    Options: ClassVar[type[OneCallOptions]] = OneCallOptions
    reads: ClassVar[bool] = True  # whether there ought to be passages

    def __init__(self, name: str, options: Mapping[str, Any] | OneCallOptions) -> None:
        self._name = name
        self.options: Any = read_options(self.Options, options, name)

    @property
    def name(self) -> str:
        return self._name

    async def answer(self, question: Question, seat: Seat) -> Rollout:
        """Ask once. Raises ModelError when there is no reply."""
        session = Session(self._name, question, seat, self._passages(question, seat))
        session.extra["turn_cap"] = 1
        return await ask_for_answer(session, self.options, expects_contexts=self.reads)

    def _passages(self, question: Question, seat: Seat) -> list[Passage]:
        return fit(question.contexts[: self.options.given], self.options.tokens)


class QuestionOnly(OneCall):
    """Answers without reading."""

    reads = False

    def _passages(self, question: Question, seat: Seat) -> list[Passage]:
        return []


class LeadOptions(OneCallOptions):
    """How many sentences of each paper or given passage are shown."""

    sentences: int = Field(default=5, ge=1)


class Lead(OneCall):
    """Shows the first sentences of each paper that the question is about, or of each passage given with it."""

    Options = LeadOptions

    def _passages(self, question: Question, seat: Seat) -> list[Passage]:
        sources = list(question.contexts[: self.options.given]) or papers_of(question, seat, "text")
        count = self.options.sentences
        return fit([_with_text(item, first_sentences(item.text, count)) for item in sources], self.options.tokens)


class TitleAbstract(OneCall):
    """Shows title and abstract of the papers that the question is about."""

    def _passages(self, question: Question, seat: Seat) -> list[Passage]:
        return super()._passages(question, seat) or fit(papers_of(question, seat, "abstract"), self.options.tokens)


class FullText(OneCall):
    """Shows the papers' text from the beginning, cut at `tokens` in all."""

    def _passages(self, question: Question, seat: Seat) -> list[Passage]:
        return super()._passages(question, seat) or fit(papers_of(question, seat, "text"), self.options.tokens)


class ClassicRagOptions(OneCallOptions):
    """`limit` chunks found with `mode` (as published: four, by MiniLM embedding)."""

    limit: int = Field(default=4, ge=1)
    mode: SearchMode = "embedding"


class ClassicRag(OneCall):
    """Shows the chunks nearest to the question, within its papers if it names any."""

    Options = ClassicRagOptions

    def _passages(self, question: Question, seat: Seat) -> list[Passage]:
        library = seat.corpus
        if question.contexts or library is None:
            return super()._passages(question, seat)
        options = self.options
        table, column = classic_place(library)
        hits = library.search(
            question.text, mode=options.mode, table=table, column=column, papers=question.papers, limit=options.limit
        )
        return fit([hit_passage(hit, library) for hit in hits], self.options.tokens)


async def ask_for_answer(session: Session, options: OneCallOptions, *, expects_contexts: bool) -> Rollout:
    """The last call of an agent without a loop: from the session's passages to its rollout."""
    question, shown = session.question, session.shown
    fenced = question.task == "airqa"
    cite = bool(shown) and question.task in CITED_TASKS
    template = prompt("one_call")
    messages = template.render(
        question=question.text,
        answer_format=question.answer_format,
        task=question.task,
        venues=venues(question),
        contexts=shown,
        expects_contexts=expects_contexts,
        cite=cite,
        fenced=fenced,
    )
    session.extra["prompts"] = {**session.extra.get("prompts", {}), "one_call": template.version}
    reply = await session.ask(messages, {"kind": "answer", "fenced": fenced, "cite": cite}, options.sampling)
    answer, reason = read_answer(reply, fenced, options.parsing)
    arguments = {} if answer is None else {"answer": answer}
    session.turns.append(Turn(action="GenerateAnswer", arguments=arguments, error=reason, calls=(reply.key,)))
    if answer is None:
        return session.finish("invalid", reason=reason)
    if reply.finish_reason == "length":
        session.notes.append("the reply was cut at max_tokens")
    return session.finish("answered", answer)


def read_answer(reply: ChatReply, fenced: bool, parsing: str) -> tuple[str | None, str]:
    """The answer of a reply, or None and why not.

    A reply cut at max_tokens is `truncated` where a fenced answer is asked for and its fence is not closed; prose that was
    cut is an answer all the same, with a note.
    """
    text = reply.text
    if fenced and reply.finish_reason == "length" and (text.count("```") < 2 or text.count("```") % 2):
        return None, "truncated"
    if fenced:
        text = extract(text, "code_block")[1] if parsing == "as_published" else last_block(text)
    return (text.strip(), "") if text.strip() else (None, "the reply is empty")


def papers_of(question: Question, seat: Seat, part: Literal["text", "abstract"]) -> list[Passage]:
    """The papers that a question is about, as passages; none without a corpus."""
    library = seat.corpus
    if library is None:
        return []
    passages = []
    for identity in question.papers:
        paper = library.paper(identity)
        text = paper.abstract if part == "abstract" else library.full_text(identity)
        passages.append(Passage(id=identity, text=text, title=paper.title, paper=identity))
    return passages


def fit(passages: list[Passage] | tuple[Passage, ...], tokens: int) -> list[Passage]:
    """The passages in order until `tokens` are used up; the last is cut, and an empty one left out."""
    kept = []
    for passage in passages:
        text = cut(passage.text, tokens)
        if not text.strip() and not passage.title:
            continue
        tokens -= plain_count(text)
        kept.append(_with_text(passage, text))
        if tokens <= 0:
            break
    return kept


def _with_text(passage: Passage, text: str) -> Passage:
    return Passage(id=passage.id, text=text, title=passage.title, paper=passage.paper)
