"""Each way in which a server can misbehave, and what comes of it: a reply, or a failure with its reason; what is stored."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
import pytest_asyncio

from vivavoce.errors import ConfigError, ModelError, RefusedError
from vivavoce.models.chat import ChatReply, ChatRequest, Image, Message
from vivavoce.models.client import StoredModel, open_model, question_deadline
from vivavoce.models.failures import CallError, ContextOverflowError, DeadlineError, OfflineMissError
from vivavoce.models.store import CallStore


def ask(text: str, **fields: Any) -> ChatRequest:
    return ChatRequest(messages=(Message(role="user", content=text),), **fields)


@pytest_asyncio.fixture
async def model(server: Any, configure: Callable[..., Any], tmp_path: Path) -> AsyncIterator[StoredModel]:
    with CallStore(tmp_path / "calls.sqlite") as store:
        async with open_model(configure(server.url), store) as model:
            assert isinstance(model, StoredModel)
            yield model


GOOD = [  # script, attempts, the least seconds that it must take
    ("none", 1, 0.0),
    ("429-seconds", 2, 1.0),
    ("429-date", 2, 0.9),
    ("429-bare", 2, 0.0),
    ("429-ms", 2, 0.2),
    ("429-reset", 2, 0.2),
    ("500-then-fine", 2, 0.0),
    ("503-seconds", 2, 1.0),
    ("reset", 2, 0.0),
    ("half", 2, 0.0),
    ("html", 2, 0.0),
    ("wrong-json", 2, 0.0),
    ("no-choices", 2, 0.0),
    ("error-200", 2, 0.0),
    ("slow", 1, 0.3),
]


@pytest.mark.parametrize(("script", "attempts", "least"), GOOD)
async def test_passing_faults_end_in_a_reply_that_is_stored_once(
    model: StoredModel, server: Any, script: str, attempts: int, least: float
) -> None:
    request = ask(f"[[script:{script}]] What is new?" if script != "none" else "What is new?")
    begun = time.perf_counter()
    reply = await model.chat(request)
    assert time.perf_counter() - begun >= least
    assert server.requests == attempts
    assert reply.text and reply.finish_reason == "stop"
    assert reply.usage.calls == 1 and reply.usage.completion_tokens > 0
    assert await model.chat(request) == reply, "the replay is the very reply, its seconds included"
    assert server.requests == attempts and server.finished.total() == 1


BAD = [  # script, attempts (1 + retries, or 1 where no retry helps), error, what it says
    ("429-always", 3, CallError, "429"),
    ("quota", 1, CallError, "quota"),
    ("429-tomorrow", 1, CallError, "asked to wait 86400 s"),
    ("500-always", 3, CallError, "500"),
    ("hang", 3, DeadlineError, "no reply within 0.3 s"),
    ("reset-always", 3, CallError, "middle of the reply"),
    ("half-always", 3, CallError, "no chat completion"),
    ("html-200-always", 3, CallError, "Please log in"),
    ("wrong-json-always", 3, CallError, "no chat completion"),
    ("no-choices-always", 3, CallError, "no choices"),
    ("400", 1, CallError, "Invalid value for 'temperature'"),
    ("401", 1, CallError, "api_key_env"),
    ("403", 1, CallError, "may not use"),
    ("404", 1, CallError, "check base_url"),
    ("redirect", 1, CallError, "elsewhere.example"),
    ("overflow", 1, ContextOverflowError, "maximum context length"),
    ("refusal", 1, RefusedError, "I cannot help"),
    ("filter", 1, RefusedError, "content filter"),
    ("filter-400", 1, RefusedError, "filtered"),
]


@pytest.mark.parametrize(("script", "attempts", "error", "says"), BAD)
async def test_lasting_faults_end_one_call_with_the_reason_and_are_not_stored(
    server: Any, configure: Callable[..., Any], tmp_path: Path, script: str, attempts: int, error: type[Exception], says: str
) -> None:
    config = configure(server.url, retries=2, timeout=0.3, call_timeout=20)
    with CallStore(tmp_path / "calls.sqlite") as store:
        async with open_model(config, store) as model:
            bad, good = await asyncio.gather(
                model.chat(ask(f"[[script:{script}]] x")), model.chat(ask("a good one")), return_exceptions=True
            )
        assert isinstance(good, ChatReply), "one bad call does not touch the others"
        assert type(bad) is error and isinstance(bad, ModelError)
        assert says in str(bad) and "tested" in str(bad)
        assert server.requests == attempts + 1
        assert list(store.keys()) == [good.key]


async def test_a_reply_cut_at_max_tokens_is_handed_on_but_never_stored(model: StoredModel, server: Any) -> None:
    request = ask("[[script:length]] x")
    assert (await model.chat(request)).finish_reason == "length"
    await model.chat(request)
    assert server.requests == 2


async def test_tool_calls_with_broken_arguments_come_back_raw(
    server: Any, configure: Callable[..., Any], tmp_path: Path
) -> None:
    tool = {"type": "function", "function": {"name": "Search", "parameters": {"type": "object", "properties": {}}}}
    with CallStore(tmp_path / "calls.sqlite") as store:
        async with open_model(configure(server.url, tool_calls="native"), store) as model:
            reply = await model.chat(ask("[[script:broken-arguments]]", tools=(tool,)))
            assert reply.tool_calls[0].arguments == '{"query": "atten'
            assert reply.finish_reason == "tool_calls" and reply.text == ""
            follow = Message(role="tool", content="nothing", tool_call_id=reply.tool_calls[0].id)
            asked = (Message(role="user", content="q"), Message(role="assistant", tool_calls=reply.tool_calls), follow)
            await model.chat(ChatRequest(messages=asked, tools=(tool,)))
        sent = server.bodies[-1]["messages"]
        assert sent[1]["tool_calls"][0]["function"] == {"name": "Search", "arguments": '{"query": "atten'}
        assert sent[2] == {"role": "tool", "content": "nothing", "tool_call_id": "call_1"}
        assert server.bodies[-1]["tools"] == [tool]


async def test_missing_usage_leaves_the_cost_unknown(server: Any, configure: Callable[..., Any], tmp_path: Path) -> None:
    config = configure(server.url, price={"prompt": 1, "completion": 2})
    with CallStore(tmp_path / "calls.sqlite") as store:
        async with open_model(config, store) as model:
            assert (await model.chat(ask("[[script:no-usage]]"))).usage.cost is None
            counted = (await model.chat(ask("priced"))).usage
    assert counted.cost == pytest.approx((counted.prompt_tokens + 2 * counted.completion_tokens) / 1e6)


async def test_an_unknown_price_is_an_unknown_cost(model: StoredModel) -> None:
    assert (await model.chat(ask("x"))).usage.cost is None


async def test_thinking_is_kept_apart_and_restored_on_replay(
    server: Any, configure: Callable[..., Any], tmp_path: Path
) -> None:
    with CallStore(tmp_path / "calls.sqlite") as store:
        async with open_model(configure(server.url, thinking="tag"), store) as model:
            for _ in range(2):
                reply = await model.chat(ask("[[script:thinking]]"))
                assert reply.thinking == "Let me see." and "think" not in reply.text and reply.text


async def test_five_samples_are_five_calls_the_first_time_and_none_the_second(model: StoredModel, server: Any) -> None:
    for _ in range(2):
        replies = await asyncio.gather(*(model.chat(ask("x"), sample=sample) for sample in range(5)))
        assert server.requests == 5 and len({reply.key for reply in replies}) == 5


async def test_equal_calls_at_the_same_time_are_paid_once(server: Any, model: StoredModel) -> None:
    server.latency = 0.1
    replies = await asyncio.gather(*(model.chat(ask("same")) for _ in range(20)))
    assert server.requests == 1 and len({reply.key for reply in replies}) == 1


async def test_when_the_paying_task_is_stopped_the_next_one_takes_over(server: Any, model: StoredModel) -> None:
    server.latency = 0.2
    first = asyncio.create_task(model.chat(ask("same")))
    await asyncio.sleep(0.05)
    second = asyncio.create_task(model.chat(ask("same")))
    await asyncio.sleep(0.05)
    first.cancel()
    assert (await second).text
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_concurrency_is_held_and_connections_are_reused(
    server: Any, configure: Callable[..., Any], tmp_path: Path
) -> None:
    server.latency = 0.02
    with CallStore(tmp_path / "calls.sqlite") as store:
        async with open_model(configure(server.url, concurrency=4), store) as model:
            await asyncio.gather(*(model.chat(ask(f"q{number}")) for number in range(40)))
    assert server.peak == 4
    assert server.requests == 40


async def test_429_lowers_concurrency_and_network_errors_do_not(
    server: Any, configure: Callable[..., Any], tmp_path: Path
) -> None:
    with CallStore(tmp_path / "calls.sqlite") as store:
        async with open_model(configure(server.url), store) as model:
            assert isinstance(model, StoredModel)
            await asyncio.gather(*(model.chat(ask(f"[[script:reset]] {number}")) for number in range(8)))
            await asyncio.gather(*(model.chat(ask(f"[[script:500-then-fine]] {number}")) for number in range(8)))
            assert model.limiter.limit == 8
            task = asyncio.create_task(model.chat(ask("[[script:429-ms]]")))
            await asyncio.sleep(0.1)
            assert model.limiter.limit == 4
            await task


async def test_the_question_deadline_ends_the_question_and_keeps_what_it_finished(
    server: Any, configure: Callable[..., Any], tmp_path: Path
) -> None:
    config = configure(server.url, question_timeout=0.3)
    with CallStore(tmp_path / "calls.sqlite") as store:
        async with open_model(config, store) as model:
            with pytest.raises(DeadlineError, match="question_timeout"):
                async with question_deadline(config):
                    done = await model.chat(ask("quick"))
                    await model.chat(ask("[[script:hang]]"))
        assert list(store.keys()) == [done.key]


async def test_no_server_at_all(configure: Callable[..., Any], tmp_path: Path) -> None:
    with CallStore(tmp_path / "calls.sqlite") as store:
        async with open_model(configure("http://127.0.0.1:9/v1", retries=1), store) as model:
            with pytest.raises(CallError, match="Is the server running"):
                await model.chat(ask("x"))


async def test_offline_replays_and_names_the_question_of_a_miss(
    server: Any, configure: Callable[..., Any], tmp_path: Path
) -> None:
    config = configure(server.url, api_key_env="NO_SUCH_KEY")
    with CallStore(tmp_path / "calls.sqlite") as store:
        async with open_model(config, store, environ={"NO_SUCH_KEY": "sk-something-long"}) as model:
            reply = await model.chat(ask("known"))
        store.export_jsonl(tmp_path / "calls.jsonl.gz")
    missing = tmp_path / "elsewhere" / "none.sqlite"
    with CallStore(missing, also=[tmp_path / "calls.jsonl.gz"], readonly=True) as store:
        async with open_model(config, store, offline=True, environ={}) as model:
            assert await model.chat(ask("known")) == reply, "from the shipped calls, without a key or a server"
            with pytest.raises(OfflineMissError, match=r"question q17.*make record"):
                await model.chat(ask("changed", fields={"question_id": "q17"}))
    assert server.requests == 1 and not missing.parent.exists()


async def test_images_and_schema_reach_the_server(server: Any, configure: Callable[..., Any], tmp_path: Path) -> None:
    picture = Image(base64="aGVsbG8=")
    request = ChatRequest(
        messages=(Message(role="user", content="see", images=(picture,)),),
        response_format={
            "type": "object",
            "properties": {"ok": {"type": "boolean"}},
            "required": ["ok"],
            "additionalProperties": False,
        },
    )
    with CallStore(tmp_path / "calls.sqlite") as store:
        async with open_model(configure(server.url), store) as model:
            with pytest.raises(ModelError, match="images: true"):
                await model.chat(request)
        async with open_model(configure(server.url, images=True, response_format="json_schema"), store) as model:
            reply = await model.chat(request)
        assert isinstance(msgspec.json.decode(reply.text)["ok"], bool)
        store.export_jsonl(tmp_path / "calls.jsonl")
    sent = server.bodies[-1]
    assert sent["messages"][0]["content"][1]["image_url"]["url"] == "data:image/png;base64,aGVsbG8="
    assert sent["response_format"]["json_schema"]["strict"] is True
    kept = (tmp_path / "calls.jsonl").read_text()
    assert kept.count("aGVsbG8=") == 1, "an image is stored once, requests name it by digest"


async def test_a_failed_write_stops_the_step(model: StoredModel, monkeypatch: pytest.MonkeyPatch) -> None:
    from vivavoce.models.failures import StoreError

    model._store._writer.execute("PRAGMA max_page_count = 1")  # what a full disk looks like
    with pytest.raises(StoreError, match="Free some space"):
        for number in range(200):
            await model.chat(ask(f"{number}" + "x" * 20000))


async def test_an_unknown_provider_is_named(configure: Callable[..., Any]) -> None:
    with pytest.raises(ConfigError, match="no provider 'nowhere:Nobody'"):
        async with open_model(configure("", provider="nowhere:Nobody"), None):
            pass


async def test_a_provider_of_ones_own_needs_no_edit_here(
    configure: Callable[..., Any], tmp_path: Path, monkeypatch: Any
) -> None:
    (tmp_path / "mine.py").write_text(
        "from vivavoce.models.chat import ChatReply\n"
        "class Parrot:\n"
        "    native_tools = False\n"
        "    def __init__(self, config): self.name = config.name\n"
        "    async def chat(self, request, *, sample=0): return ChatReply(text=request.messages[-1].content)\n"
        "class Wire:\n"
        "    def __init__(self, config, environ): pass\n"
        "    async def post(self, body, timeout):\n"
        '        return b\'{"choices":[{"message":{"content":"wired"}}]}\'\n'
        "    async def close(self): pass\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    async with open_model(configure("", provider="mine:Parrot"), None) as model:
        assert (await model.chat(ask("hello"))).text == "hello"
    with CallStore(tmp_path / "calls.sqlite") as store:
        async with open_model(configure("", provider="mine:Wire"), store) as model:
            assert (await model.chat(ask("hello"))).text == "wired"
        assert len(list(store.keys())) == 1
