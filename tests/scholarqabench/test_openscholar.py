"""The OpenScholar agent against a scripted model: what is shown, what is kept, and that numbers always mean passages shown."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from vivavoce.agents.base import Seat
from vivavoce.agents.openscholar import OpenScholar
from vivavoce.agents.openscholar.parse import answer_of, attributed, remarks_of
from vivavoce.agents.openscholar.passages import tidy
from vivavoce.agents.prompts import prompt
from vivavoce.corpus.base import Hit, Paper
from vivavoce.errors import ConfigError, DataError, ModelError, RefusedError
from vivavoce.models.chat import ChatReply, ChatRequest
from vivavoce.records import Passage, Question, Usage


class Scripted:
    """A model that replies by the request's kind and remembers what it was sent."""

    name, native_tools = "scripted", False

    def __init__(self, **replies: str | Exception | Callable[[ChatRequest], str]) -> None:
        self.replies, self.requests = replies, []

    async def chat(self, request: ChatRequest, *, sample: int = 0) -> ChatReply:
        self.requests.append(request)
        reply = self.replies[request.fields["kind"]]
        if isinstance(reply, Exception):
            raise reply
        text = reply if isinstance(reply, str) else reply(request)
        return ChatReply(text=text, key=f"k{len(self.requests)}", usage=Usage(calls=1, cost=0.01))

    def sent(self, kind: str) -> list[str]:
        return [request.messages[-1].content for request in self.requests if request.fields["kind"] == kind]


class Shelf:
    """A corpus of three chunks that answers every search with them."""

    def columns(self):
        return [("chunks", "text_content")]

    def paper(self, identity: str) -> Paper:
        return Paper(id=identity, title=f"Paper {identity}")

    def search(self, query, *, mode, table, column, papers, limit):
        hits = [Hit(paper="p", table=table, column=column, key=str(n), text=f"Chunk {n} says so.", score=1.0) for n in range(3)]
        return hits[:limit]


def question(task: str = "long_form", count: int = 2) -> Question:
    contexts = tuple(Passage(id=f"c{n}", title=f"T{n}", text=f"Text {n} [7] here.") for n in range(count))
    return Question(id="q", benchmark="b", task=task, text="Why is it so?", contexts=contexts)


async def run(model: Scripted, options: dict, item: Question | None = None, corpus: Shelf | None = None):
    agent = OpenScholar("openscholar", options)
    return await agent.answer(item or question(), Seat(model=model, corpus=corpus))


async def test_given_contexts_are_numbered_from_0_and_recorded():
    model = Scripted(answer="[Response_Start]It is so [0][1].[Response_End] ignored")
    rollout = await run(model, {})
    assert (rollout.outcome, rollout.answer) == ("answered", "It is so [0][1].")
    assert [passage.id for passage in rollout.contexts] == ["c0", "c1"]
    assert "[0] Title: T0 Text: Text 0 here." in model.sent("answer")[0]
    assert "[7]" not in model.sent("answer")[0]  # a passage's own marks would pass for citations
    assert model.requests[0].fields["question_id"] == "q"
    assert [turn.action for turn in rollout.turns] == ["Answer"]
    assert rollout.usage.calls == 1


@pytest.mark.parametrize(("task", "shown"), [("long_form", 10), ("claim", 5), ("short_form", 5)])
async def test_top_n_depends_on_the_task(task, shown):
    rollout = await run(Scripted(answer="true [0]"), {}, question(task, 12))
    assert len(rollout.contexts) == shown


async def test_no_retrieval_shows_nothing():
    model = Scripted(answer="It is so.")
    rollout = await run(model, {"retrieval": "none"})
    assert rollout.contexts == ()
    assert "passage" not in model.sent("answer")[0].lower()


async def test_corpus_retrieval():
    rollout = await run(Scripted(answer="So [1]."), {"retrieval": "corpus", "top_n": 2}, corpus=Shelf())
    assert [passage.text for passage in rollout.contexts] == ["Chunk 0 says so.", "Chunk 1 says so."]
    assert rollout.contexts[0].title == "Paper p"


async def test_contexts_of_a_predictions_file(tmp_path: Path):
    path = tmp_path / "p.json"
    record = {
        "input": "Why is it so?",
        "output": "x",
        "ctxs": [{"title": "T", "text": "From the file"}, {"text": {"contexts": ["A", "B"]}}],
    }
    path.write_text(json.dumps({"data": [record]}), encoding="utf-8")
    options = {"retrieval": "predictions", "contexts_file": str(path)}
    rollout = await run(Scripted(answer="So [0]."), options)
    assert [passage.text for passage in rollout.contexts] == ["From the file", "A B"]
    other = Question(id="z", benchmark="b", task="long_form", text="Another?")
    with pytest.raises(DataError, match="no contexts for question z"):
        await run(Scripted(answer="x"), options, other)


async def test_feedback_adds_passages_after_those_shown():
    model = Scripted(
        answer="A first answer that is so [0].",
        feedback="Feedback: say more Question: how often is it so?\nFeedback: be clearer",
        edit=lambda request: request.fields["answer"] + " More of it [2].",
    )
    rollout = await run(model, {"feedback": 3, "further": 2}, corpus=Shelf())
    assert [passage.text for passage in rollout.contexts][2:] == ["Chunk 0 says so.", "Chunk 1 says so."]
    assert rollout.answer == "A first answer that is so [0]. More of it [2]. More of it [2]."
    assert "Passages from [2] on are new" in model.sent("edit")[0]
    assert "are new" not in model.sent("edit")[1]
    assert "[2] Title: Paper p Text: Chunk 0 says so." in model.sent("edit")[1]
    assert [turn.action for turn in rollout.turns] == ["Answer", "Feedback", "Edit", "Edit"]
    assert rollout.usage.calls == 4


async def test_a_shrinking_edit_is_dropped_with_its_passages():
    model = Scripted(
        answer="A rather long first answer [0].", feedback="Feedback: shorten Question: what else?", edit="Short [2]."
    )
    rollout = await run(model, {"feedback": 1}, corpus=Shelf())
    assert rollout.answer == "A rather long first answer [0]."
    assert len(rollout.contexts) == 2
    assert rollout.turns[-1].arguments["accepted"] is False
    assert rollout.notes


async def test_at_most_the_remarks_asked_for():
    model = Scripted(
        answer="An answer [0].", feedback="Feedback: a\nFeedback: b\nFeedback: c\nFeedback: d", edit="An answer, edited [0]."
    )
    await run(model, {"feedback": 2})
    assert len(model.sent("edit")) == 2


@pytest.mark.parametrize("task", ["claim", "boolean"])
async def test_a_one_word_answer_gets_no_feedback(task):
    model = Scripted(answer="[Response_Start]true [0][Response_End]")
    assert (await run(model, {"feedback": 3, "posthoc": "every_line"}, question(task))).answer == "true [0]"
    assert len(model.requests) == 1


async def test_no_remark_leaves_the_draft():
    model = Scripted(answer="An answer [0].", feedback="none")
    assert (await run(model, {"feedback": 3})).answer == "An answer [0]."


@pytest.mark.parametrize(("policy", "lines"), [("uncited", 1), ("every_line", 2)])
async def test_posthoc_attribution(policy, lines):
    model = Scripted(
        answer="Heading\nThis line cites nothing.\nThis one does [1].",
        attribute=lambda request: request.fields["answer"].replace("nothing.", "nothing [0]."),
    )
    rollout = await run(model, {"posthoc": policy})
    assert rollout.answer == "Heading\nThis line cites nothing [0].\nThis one does [1]."
    assert len(model.sent("attribute")) == lines


async def test_attribution_never_changes_words():
    model = Scripted(answer="This line cites nothing.", attribute="A different line [0].")
    assert (await run(model, {"posthoc": "uncited"})).answer == "This line cites nothing."


@pytest.mark.parametrize(
    ("task", "shots", "shown"), [("claim", "paper", 1), ("long_form", "paper", 0), ("long_form", 1, 1), ("boolean", 0, 0)]
)
async def test_demonstrations(task, shots, shown):
    model = Scripted(answer="true [0]")
    await run(model, {"shots": shots}, question(task))
    assert model.sent("answer")[0].count("made up") == shown


@pytest.mark.parametrize(("error", "outcome"), [(ModelError("down"), "error"), (RefusedError("no"), "refused")])
async def test_a_model_error_ends_the_question_with_what_was_done(error, outcome):
    rollout = await run(Scripted(answer="An answer [0].", feedback=error), {"feedback": 1})
    assert (rollout.outcome, rollout.answer, rollout.reason) == (outcome, None, str(error))
    assert [turn.action for turn in rollout.turns] == ["Answer"]


async def test_an_empty_reply_is_invalid():
    assert (await run(Scripted(answer="[Response_Start][Response_End]"), {"feedback": 1})).outcome == "invalid"


@pytest.mark.parametrize(
    "options",
    [{"retrieval": "web"}, {"feedback": 4}, {"retrieval": "predictions"}, {"retrieval": "semantic_scholar"}, {"topn": 3}],
)
def test_wrong_options_are_named(options):
    with pytest.raises(ConfigError, match=r"conf/agent/openscholar\.yaml"):
        OpenScholar("openscholar", options)


def test_no_demonstration_holds_a_test_item(data):
    """The published PubMedQA demonstration shows the gold passages of two test questions (spec 7.3)."""
    folder = Path(__file__).resolve().parents[2] / "src/vivavoce/agents/prompts/openscholar"
    shown = " ".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob("part_demo_*.md"))).lower()
    assert len(shown) > 1000
    for file in ("single_paper_tasks/scifact_test.jsonl", "single_paper_tasks/pubmed_test.jsonl"):
        for line in (data / file).read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            assert record["input"].lower()[:60] not in shown
            title = record["gold_ctx"][0]["title"].lower()
            assert not title or title not in shown


@pytest.mark.parametrize("name", ["answer", "feedback", "edit", "attribute"])
def test_every_prompt_has_a_version(name):
    assert prompt(f"openscholar/{name}").version >= 1


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("[Response_Start]A [0].[Response_End]x", "A [0]."),
        ("A [0].[Response_End]", "A [0]."),
        ("thinking [Response_Start]A [0].", "A [0]."),
        ("A [0].\n\nReferences:\n[0] Title", "A [0]."),
        ("", ""),
    ],
)
def test_answer_of(reply, answer):
    assert answer_of(reply) == answer


@pytest.mark.parametrize(
    ("reply", "remarks"),
    [
        ("Feedback: a Question: b?\nFeedback: c", [("a", "b?"), ("c", "")]),
        ("1. **Feedback:** a\nQuestion: b?", [("a", "b?")]),
        ("Feedback 1: a\n   goes on\nFeedback 2: c Question: none", [("a goes on", ""), ("c", "")]),
        ("none", []),
        ("", []),
    ],
)
def test_remarks_of(reply, remarks):
    assert [(remark.text, remark.question) for remark in remarks_of(reply, 3)] == remarks


@pytest.mark.parametrize(
    ("line", "reply", "kept"),
    [
        ("It is so.", "It is so [1].", "It is so [1]."),
        ("It is so.", "It is so.", None),
        ("It is so.", "It is not so [1].", None),
    ],
)
def test_attributed(line, reply, kept):
    assert attributed(line, reply) == kept


def test_tidy_drops_empty_and_repeated_passages():
    passages = [Passage(id="a", text="X [1]"), Passage(id="b", text="X"), Passage(id="c", text=" "), Passage(id="d", text="Y")]
    assert [(item.id, item.text) for item in tidy(passages)] == [("a", "X"), ("d", "Y")]
    assert tidy(passages, [Passage(id="z", text="Y")])[-1].id == "a"
