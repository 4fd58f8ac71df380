"""The loop of agents with tools: turns, the cap, the window, native calls, loops, drafts, and what a rollout records."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from vivavoce.agents.base import Seat
from vivavoce.agents.draft_and_follow import DraftAndFollow
from vivavoce.agents.tool_loop import ToolLoop
from vivavoce.agents.two_stage import TwoStage
from vivavoce.errors import BudgetError, ModelError, RefusedError
from vivavoce.models.chat import ChatReply, ChatRequest, ToolCall
from vivavoce.records import Question, Rollout, Usage

ONE = "11111111-1111-5111-8111-111111111111"
SEARCH = "[Thought]: look\n[Action]: ClassicRetrieve(query='accuracy')"
ANSWER = "[Thought]: done\n[Action]: GenerateAnswer(answer=71.5)"


class Scripted:
    """A model that says its lines, and keeps the requests."""

    images = False

    def __init__(self, *lines: str | ChatReply | Exception, native: bool = False) -> None:
        self.name, self.native_tools = "scripted", native
        self.lines = list(lines)
        self.requests: list[ChatRequest] = []
        self.samples: list[int] = []

    async def chat(self, request: ChatRequest, *, sample: int = 0) -> ChatReply:
        self.requests.append(request)
        self.samples.append(sample)
        line = self.lines.pop(0) if len(self.lines) > 1 else self.lines[0]
        if isinstance(line, Exception):
            raise line
        reply = line if isinstance(line, ChatReply) else ChatReply(text=line)
        usage = Usage(calls=1, prompt_tokens=10, completion_tokens=2, cost=0.5)
        return msgspec.structs.replace(reply, usage=usage, key=f"key-{len(self.requests)}")


def ask(task: str = "airqa", **changes: Any) -> Question:
    values = {"text": "What accuracy does Cranes reach?", "answer_format": "a float", "papers": (ONE,), **changes}
    return Question(id="q1", benchmark="b", task=task, **values)


async def play(
    library: Any, *lines: Any, native: bool = False, question: Question | None = None, **options: Any
) -> tuple[Rollout, Scripted]:
    model = Scripted(*lines, native=native)
    agent = ToolLoop("loop", {"space": "classic", **options})
    rollout = await agent.answer(question or ask(), Seat(model=model, corpus=library, seed=3))
    msgspec.json.decode(msgspec.json.encode(rollout), type=Rollout)
    return rollout, model


async def test_every_action_call_is_a_turn(library: Any) -> None:
    rollout, model = await play(library, SEARCH, "no action at all", SEARCH, ANSWER)
    assert [turn.action for turn in rollout.turns] == ["ClassicRetrieve", "", "ClassicRetrieve", "GenerateAnswer"]
    assert [bool(turn.error) for turn in rollout.turns] == [False, True, False, False]
    assert [turn.calls for turn in rollout.turns] == [("key-1",), ("key-2",), ("key-3",), ("key-4",)]
    assert (rollout.outcome, rollout.answer, rollout.extra["turn_cap"]) == ("answered", "71.5", 20)
    assert rollout.turns[0].arguments == {"query": "accuracy", "limit": 5}
    assert rollout.turns[1].thought == "no action at all"
    assert rollout.usage == Usage(calls=4, prompt_tokens=40, completion_tokens=8, cost=2.0)
    assert model.samples == [3, 3, 3, 3]


async def test_the_cap_is_an_outcome_and_the_last_observation_stays(library: Any) -> None:
    rollout, model = await play(library, SEARCH, turn_cap=3)
    assert (rollout.outcome, rollout.answer, len(rollout.turns)) == ("limit", None, 3)
    assert "Cranes reaches an accuracy" in rollout.turns[-1].observation
    assert "You have 3 turns in all" in model.requests[0].messages[0].content


async def test_answering_on_the_last_turn_counts(library: Any) -> None:
    rollout, _ = await play(library, SEARCH, SEARCH, ANSWER, turn_cap=3)
    assert rollout.outcome == "answered"


@pytest.mark.parametrize("answer", ["''", "'  '", "None"])
async def test_an_empty_answer_is_invalid(library: Any, answer: str) -> None:
    rollout, _ = await play(library, f"[Action]: GenerateAnswer(answer={answer})")
    assert (rollout.outcome, rollout.answer, rollout.reason) == ("invalid", None, "the answer is empty")


@pytest.mark.parametrize(
    ("literal", "text"),
    [
        ("['a', 'b']", "['a', 'b']"),
        ("True", "True"),
        ("{'b', 'a'}", "['a', 'b']"),
        ("{1: 'x'}", "{'1': 'x'}"),
        ("b'x'", "b'x'"),
        ("'\\ud800'", "?"),
    ],
)
async def test_answers_are_pythons_text_and_the_same_everywhere(library: Any, literal: str, text: str) -> None:
    rollout, _ = await play(library, f"[Action]: GenerateAnswer(answer={literal})")
    assert rollout.answer == text


async def test_the_window_keeps_the_task_and_the_last_turns(library: Any) -> None:
    calls = [f"[Action]: ClassicRetrieve(query='q{number}')" for number in range(8)]
    _, model = await play(library, *calls, ANSWER, window=2)
    last = model.requests[-1].messages
    assert [message.role for message in last] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert "q6" in last[2].content
    assert "q7" in last[4].content


async def test_a_long_prompt_drops_the_oldest_turns(library: Any) -> None:
    _, model = await play(library, SEARCH, SEARCH, SEARCH, ANSWER, prompt_tokens=200)
    assert [len(request.messages) for request in model.requests] == [2, 4, 4, 4]


async def test_the_history_holds_nothing_that_was_made_up(library: Any) -> None:
    _, model = await play(library, SEARCH + "\n[Observation]: made up", ANSWER)
    messages = model.requests[1].messages
    assert messages[2].content == "[Thought]: look\n[Action]:\nClassicRetrieve(query='accuracy', limit=5)"
    assert messages[3].content.startswith("[Observation]:\n{")


async def test_published_parsing_is_a_choice(library: Any) -> None:
    rollout, _ = await play(library, "[Action]: GenerateAnswer('BERT')", parsing="as_published")
    assert rollout.outcome == "invalid"  # the defect: the positional argument is lost
    corrected, _ = await play(library, "[Action]: GenerateAnswer('BERT')")
    assert (corrected.answer, corrected.notes) == ("BERT", ("positional arguments taken as answer",))


@pytest.mark.parametrize("syntax", ["json", "xml", "yaml"])
async def test_other_syntaxes(library: Any, syntax: str) -> None:
    inner = "<parameters><answer>True</answer></parameters>"
    lines = {
        "json": '[Action]: {"action_type": "GenerateAnswer", "parameters": {"answer": true}}',
        "xml": f"[Action]: <action><action_type>GenerateAnswer</action_type>{inner}</action>",
        "yaml": "[Action]:\naction_type: GenerateAnswer\nparameters:\n  answer: true",
    }
    rollout, model = await play(library, lines[syntax], syntax=syntax)
    assert rollout.answer == "True"
    assert "action_type" in model.requests[0].messages[0].content


def call(name: str, arguments: Any, number: int = 1) -> ToolCall:
    return ToolCall(id=f"c{number}", name=name, arguments=arguments if isinstance(arguments, str) else json.dumps(arguments))


async def test_native_calls(library: Any) -> None:
    first = ChatReply(text="look", tool_calls=(call("ClassicRetrieve", {"query": "accuracy"}),), finish_reason="tool_calls")
    last = ChatReply(text="", tool_calls=(call("GenerateAnswer", {"answer": [1, "a"]}, 2),), finish_reason="tool_calls")
    rollout, model = await play(library, first, last, native=True)
    assert (rollout.answer, [turn.action for turn in rollout.turns]) == ("[1, 'a']", ["ClassicRetrieve", "GenerateAnswer"])
    assert [tool["function"]["name"] for tool in model.requests[0].tools] == ["ClassicRetrieve", "GenerateAnswer"]
    assert [message.role for message in model.requests[1].messages] == ["system", "user", "assistant", "tool"]
    assert model.requests[1].messages[3].tool_call_id == "c1"
    assert "[Action]" not in model.requests[0].messages[0].content


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (ChatReply(text="I think it is 3"), "No function was called"),
        (ChatReply(text="", tool_calls=(call("ClassicRetrieve", "{broken"),)), "are not a JSON object"),
        (ChatReply(text="", tool_calls=(call("ClassicRetrieve", "[1]"),)), "are not a JSON object"),
        (ChatReply(text="", tool_calls=(call("Format", {}),)), "There is no action 'Format'"),
        (ChatReply(text="", tool_calls=(call("ClassicRetrieve", {"q": 1}),)), "Unknown parameter(s) q"),
    ],
)
async def test_bad_native_calls_are_turns_with_a_helpful_error(library: Any, reply: ChatReply, says: str) -> None:
    done = ChatReply(text="", tool_calls=(call("GenerateAnswer", {"answer": 1}),))
    rollout, _ = await play(library, reply, done, native=True)
    assert (len(rollout.turns), rollout.turns[0].action, rollout.outcome) == (2, "", "answered")
    assert says in rollout.turns[0].error


async def test_several_native_calls_are_several_turns_up_to_the_cap(library: Any) -> None:
    many = ChatReply(text="", tool_calls=tuple(call("ClassicRetrieve", {"query": str(n)}, n) for n in range(5)))
    rollout, _ = await play(library, many, native=True, turn_cap=3)
    assert (len(rollout.turns), rollout.outcome) == (3, "limit")


async def test_text_actions_may_be_forced(library: Any) -> None:
    rollout, model = await play(library, ANSWER, native=True, tools="text")
    assert rollout.outcome == "answered"
    assert model.requests[0].tools == ()


async def test_a_loop_may_end_the_rollout(library: Any) -> None:
    rollout, _ = await play(library, SEARCH, SEARCH.replace("'accuracy'", "' Accuracy '"), SEARCH, ANSWER, stop_on_repeats=3)
    assert (rollout.outcome, len(rollout.turns)) == ("limit", 3)
    assert rollout.reason == "loop: one action was taken 3 times"
    free, _ = await play(library, SEARCH, SEARCH, SEARCH, ANSWER)
    assert free.outcome == "answered"


@pytest.mark.parametrize(("error", "outcome"), [(ModelError("down"), "error"), (RefusedError("no"), "refused")])
async def test_a_model_error_keeps_the_turns(library: Any, error: Exception, outcome: str) -> None:
    rollout, _ = await play(library, SEARCH, error)
    assert (rollout.outcome, len(rollout.turns), rollout.usage.calls, rollout.reason) == (outcome, 1, 1, str(error))


async def test_a_spent_budget_stops_the_run(library: Any) -> None:
    with pytest.raises(BudgetError):
        await play(library, BudgetError("spent"))


async def test_a_cut_reply_says_so(library: Any) -> None:
    rollout, _ = await play(library, ChatReply(text="[Thought]: so long", finish_reason="length"), ANSWER)
    assert rollout.turns[0].error.endswith("The reply was cut at max_tokens.")


async def test_hostile_actions_are_observations(library: Any) -> None:
    lines = [
        "[Action]: RetrieveFromDatabase(sql=\"SELECT * FROM read_text('/etc/passwd')\")",
        "[Action]: RetrieveFromDatabase(sql='DROP TABLE chunks')",
        "[Action]: CalculateExpr(expr='9**9**9')",
        "[Action]: ViewImage(paper_id='../../etc/passwd', page_number=1)",
        "[Action]: GenerateAnswer(answer=__import__('os').system('true'))",
    ]
    rollout, _ = await play(library, *lines, ANSWER, space="hybrid", images="always")
    assert [bool(turn.error) for turn in rollout.turns] == [True] * 5 + [False]
    assert "root:" not in str(rollout)


async def test_images_are_offered_to_models_that_see(library: Any) -> None:
    view = f"[Action]: ViewImage(paper_id='{ONE}', page_number=1)"
    _, blind = await play(library, ANSWER, space="neural")
    assert "ViewImage" not in blind.requests[0].messages[0].content
    _, seeing = await play(library, view, ANSWER, space="neural", images="always")
    assert "ViewImage" in seeing.requests[0].messages[0].content
    assert seeing.requests[1].messages[-1].images[0].media_type == "image/png"


async def test_without_a_corpus_only_the_answer_is_on_offer(library: Any) -> None:
    rollout, model = await play(None, "[Action]: ClassicRetrieve(query='x')", ANSWER, space="hybrid")
    assert [turn.action for turn in rollout.turns] == ["", "GenerateAnswer"]
    assert model.requests[0].fields["actions"] == ["CalculateExpr", "GenerateAnswer"]


async def test_cited_tasks_number_what_was_shown(library: Any) -> None:
    question = ask(task="claim", answer_format="", papers=())
    rollout, model = await play(library, SEARCH, "[Action]: GenerateAnswer(answer='true [0]')", question=question)
    assert len(rollout.contexts) == 3
    assert json.loads(rollout.turns[0].observation.splitlines()[0])["passage"] == 0
    assert json.loads(rollout.turns[0].observation.splitlines()[0])["text"] == rollout.contexts[0].text
    assert "true [0]" in model.requests[0].messages[1].content


async def test_fields_are_what_the_prompt_was_made_from(library: Any) -> None:
    _, model = await play(library, SEARCH, ANSWER, space="hybrid")
    fields = model.requests[1].fields
    assert fields["kind"] == "act"
    assert fields["question"] == "What accuracy does Cranes reach?"
    assert [turn.get("action", "") for turn in fields["history"]] == [""]  # ClassicRetrieve is not in this space
    assert set(fields["tables"]) >= {"metadata", "chunks", "tables"}


async def test_prompts_are_the_same_wherever_the_corpus_lies(library: Any) -> None:
    _, model = await play(library, ANSWER, space="hybrid")
    text = "".join(message.content for message in model.requests[0].messages)
    assert str(library.database.parent) not in text
    assert "/tmp" not in text


async def test_a_draft_is_no_turn_and_is_paid_apart(library: Any) -> None:
    model = Scripted("1. Use ClassicRetrieve to look.\n2. Use GenerateAnswer.", SEARCH, ANSWER)
    agent = DraftAndFollow("draft", {"space": "hybrid_paperguide"})
    rollout = await agent.answer(ask(), Seat(model=model, corpus=library))
    assert (len(rollout.turns), rollout.usage.calls, rollout.outcome) == (2, 2, "answered")
    draft = rollout.extra["draft"]
    assert (draft["call"], draft["usage"]["calls"]) == ("key-1", 1)
    assert "1. Use ClassicRetrieve to look." in model.requests[1].messages[1].content
    assert rollout.extra["prompts"] == {"draft": 1, "loop": 1}


async def test_a_draft_is_cut(library: Any) -> None:
    model = Scripted("x" * 10_000, ANSWER)
    rollout = await DraftAndFollow("draft", {"draft_tokens": 16}).answer(ask(), Seat(model=model, corpus=library))
    assert len(rollout.extra["draft"]["text"]) == 64


async def test_two_stages_are_two_turns(library: Any) -> None:
    sql = {"action_type": "RetrieveFromDatabase", "parameters": {"sql": "SELECT title FROM metadata ORDER BY title"}}
    model = Scripted(f"so\n```json\n{json.dumps(sql)}\n```", "```txt\nCranes\n```")
    rollout = await TwoStage("two", {"space": "symbolic"}).answer(ask(), Seat(model=model, corpus=library))
    assert [turn.action for turn in rollout.turns] == ["RetrieveFromDatabase", "GenerateAnswer"]
    assert (rollout.answer, rollout.extra["turn_cap"]) == ("Cranes", 2)
    assert "Herons: Frozen Lakes" in model.requests[1].messages[1].content
    assert "GenerateAnswer" not in model.requests[0].messages[0].content


async def test_two_stages_answer_from_the_error_when_the_choice_fails(library: Any) -> None:
    model = Scripted("SELECT title FROM metadata", "```txt\nCranes\n```")
    rollout = await TwoStage("two", {"space": "symbolic"}).answer(ask(), Seat(model=model, corpus=library))
    assert (rollout.turns[0].action, rollout.answer) == ("", "Cranes")
    assert "[Error]: No valid action was found" in model.requests[1].messages[1].content
