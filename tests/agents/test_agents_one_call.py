"""Agents of one call: what they show, how answers are read from replies, and the outcomes of replies that hold none."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from vivavoce.agents import one_call
from vivavoce.agents.base import Seat
from vivavoce.agents.prompts import prompt
from vivavoce.config.agent import AgentConfig
from vivavoce.config.base import load
from vivavoce.errors import ConfigError, ModelError
from vivavoce.models.chat import ChatReply, ChatRequest
from vivavoce.models.extractive import ExtractiveModel
from vivavoce.records import Passage, Question, Rollout

ONE, TWO = "11111111-1111-5111-8111-111111111111", "22222222-2222-5222-8222-222222222222"
_NAMES = (
    "question_only lead title_abstract full_text classic_rag classic_rag_small iterative_classic_rag two_stage_neural "
    "two_stage_symbolic two_stage_hybrid neural symbolic hybrid paperguide draft_and_follow text_agent_small"
)
MINE = _NAMES.split()


class Echo:
    """Replies with one text and keeps the request."""

    name, native_tools = "echo", False

    def __init__(self, text: str = "```txt\nBERT\n```", finish: str = "stop") -> None:
        self.reply = ChatReply(text=text, finish_reason=finish, key="k")
        self.requests: list[ChatRequest] = []

    async def chat(self, request: ChatRequest, *, sample: int = 0) -> ChatReply:
        self.requests.append(request)
        return self.reply


def ask(task: str = "airqa", **changes: Any) -> Question:
    values = {"text": "What accuracy does Cranes reach?", "papers": (ONE,), **changes}
    return Question(id="q1", benchmark="b", task=task, **values)


async def shown(library: Any, agent: Any, question: Question) -> tuple[Rollout, str]:
    model = Echo()
    rollout = await agent.answer(question, Seat(model=model, corpus=library))
    return rollout, model.requests[0].messages[1].content


@pytest.mark.parametrize(
    ("kind", "options", "texts"),
    [
        ("QuestionOnly", {}, []),
        ("Lead", {"sentences": 1}, ["Cranes routes every passage to a lane."]),
        ("TitleAbstract", {}, ["Cranes routes text."]),
        ("FullText", {"tokens": 5}, ["Cranes routes every "]),
        ("ClassicRag", {"limit": 1, "tokens": 12}, ["Cranes reaches an accuracy of 71.5 on HarborQA. "]),
    ],
)
async def test_each_shows_its_own(library: Any, kind: str, options: dict[str, Any], texts: list[str]) -> None:
    rollout, prompt_text = await shown(library, getattr(one_call, kind)("a", options), ask())
    assert [passage.text for passage in rollout.contexts] == texts
    assert all(f"[0] Title: Cranes: Routing Text Text: {text.strip()}" in prompt_text for text in texts)
    assert (rollout.answer, rollout.extra["turn_cap"], len(rollout.turns)) == ("BERT", 1, 1)
    assert rollout.turns[0].calls == ("k",)


async def test_given_passages_are_shown_as_numbered(library: Any) -> None:
    given = tuple(Passage(id=str(number), text=f"Passage number {number}. More.") for number in range(3))
    question = ask(task="long_form", contexts=given, papers=())
    for kind in ("ClassicRag", "FullText", "TitleAbstract"):
        rollout, text = await shown(library, getattr(one_call, kind)("a", {"given": 2}), question)
        assert rollout.contexts == given[:2]
        assert "[1] Passage number 1." in text
    rollout, _ = await shown(None, one_call.QuestionOnly("a", {}), question)
    assert rollout.contexts == ()


async def test_no_passages_are_said_to_be_missing(library: Any) -> None:
    _, text = await shown(library, one_call.FullText("a", {}), ask(papers=()))
    assert "[Passages]: none were found." in text
    _, text = await shown(library, one_call.QuestionOnly("a", {}), ask())
    assert "[Passages]" not in text


@pytest.mark.parametrize(
    ("task", "reply", "finish", "outcome", "answer"),
    [
        ("airqa", "reason\n```txt\n['a']\n```", "stop", "answered", "['a']"),
        ("airqa", "plain", "stop", "answered", "plain"),
        ("airqa", "```BERT```", "stop", "answered", "BERT"),
        ("airqa", "```txt\n```", "stop", "invalid", None),
        ("airqa", "", "stop", "invalid", None),
        ("airqa", "long reasoning that", "length", "invalid", None),
        ("airqa", "```txt\nhalf an ans", "length", "invalid", None),
        ("airqa", "```txt\nBERT\n``` and more", "length", "answered", "BERT"),
        ("long_form", "Half a paragr", "length", "answered", "Half a paragr"),
        ("claim", "true [0]\n", "stop", "answered", "true [0]"),
        ("claim", " \n", "stop", "invalid", None),
    ],
)
async def test_reading_answers(task: str, reply: str, finish: str, outcome: str, answer: str | None) -> None:
    rollout = await one_call.QuestionOnly("a", {}).answer(ask(task=task), Seat(model=Echo(reply, finish)))
    assert (rollout.outcome, rollout.answer) == (outcome, answer)
    if finish == "length":
        assert (rollout.reason == "truncated") if answer is None else ("the reply was cut at max_tokens" in rollout.notes)


async def test_published_reading_keeps_its_defect() -> None:
    agent = one_call.QuestionOnly("a", {"parsing": "as_published"})
    rollout = await agent.answer(ask(), Seat(model=Echo("```42\n```")))
    assert rollout.outcome == "invalid"  # the value on the fence's line is taken for a language tag


async def test_how_to_cite_is_said_where_there_is_something_to_cite(library: Any) -> None:
    agent = one_call.ClassicRag("a", {})
    for task, example in (
        ("claim", "true [0]"),
        ("boolean", "yes [0][2]"),
        ("long_form", "put their numbers in square brackets"),
    ):
        _, text = await shown(library, agent, ask(task=task))
        assert example in text
    for task in ("airqa", "scidqa"):
        _, text = await shown(library, agent, ask(task=task))
        assert "square brackets" not in text
    _, text = await shown(None, one_call.QuestionOnly("a", {}), ask(task="claim"))
    assert "square brackets" not in text
    assert "true if the passages support the claim" in text


async def test_only_venues_of_extra_are_shown(library: Any) -> None:
    question = ask(extra={"conference": ["acl2023"], "annotator": "secret"})
    _, text = await shown(library, one_call.QuestionOnly("a", {}), question)
    assert "[Venues]: acl2023" in text
    assert "secret" not in text


def test_wrong_options_name_the_file_and_the_keys() -> None:
    with pytest.raises(ConfigError, match=r"conf/agent/x.yaml: options: limt: .*Known options are given, limit, mode"):
        one_call.ClassicRag("x", {"limt": 3})


def test_prompts_are_checked() -> None:
    with pytest.raises(ConfigError, match=r"the prompts are .*one_call"):
        prompt("nothing")
    with pytest.raises(Exception, match="is undefined"):
        prompt("one_call").render(question="x")


@pytest.mark.parametrize("name", MINE)
async def test_each_file_makes_an_agent_that_answers_every_task(root: Path, library: Any, name: str) -> None:
    text = (root / "conf/agent" / f"{name}.yaml").read_text()
    assert text.startswith(f"# @package agent.{name}\n")
    config = AgentConfig.model_validate({"name": name, **yaml.safe_load(text)})
    agent = load(config.run, "test")(name, config.options)
    for corpus in (library, None):
        seat = Seat(model=ExtractiveModel(), corpus=corpus if config.reads_corpus else None)
        for task in ("airqa", "scidqa", "claim", "boolean", "short_form", "long_form"):
            given = (Passage(id="c", text="Cranes reaches an accuracy of 71.5 points."),) if task == "claim" else ()
            question = ask(task=task, contexts=given)
            first, second = [await agent.answer(question, seat) for _ in range(2)]
            assert first == second, "a rollout must not depend on the one before"
            assert first.outcome == "answered", first.reason
            assert not [turn.error for turn in first.turns if turn.error]
            assert msgspec.json.decode(msgspec.json.encode(first), type=Rollout) == first
            cited = re.findall(r"\[(\d+)\]", first.answer or "") if task != "airqa" else []
            assert all(int(number) < len(first.contexts) for number in cited)


async def test_the_baseline_knows_what_it_is_not() -> None:
    with pytest.raises(ModelError, match="choose a language model"):
        await ExtractiveModel().chat(ChatRequest(messages=(), fields={"kind": "judge"}))
