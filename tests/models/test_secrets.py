"""A canary key: it reaches the server's Authorization header and nothing else."""

from __future__ import annotations

import contextlib
import logging
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vivavoce.config.model import ModelConfig
from vivavoce.errors import ConfigError, ModelError
from vivavoce.models.chat import ChatRequest, Message
from vivavoce.models.client import open_model
from vivavoce.models.store import CallStore

CANARY = "sk-canary-0123456789abcdef"


@pytest.mark.parametrize(
    "script", ["fine", "echo-key", "401", "429-always", "hang", "reset-always", "html-200-always", "refusal"]
)
async def test_the_key_reaches_nothing_but_the_header(
    server: Any, configure: Callable[..., Any], tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: Any, script: str
) -> None:
    config = configure(server.url, api_key_env="CANARY_KEY", retries=1, timeout=0.3)
    said = ""
    with caplog.at_level(logging.DEBUG), CallStore(tmp_path / "s.sqlite") as store:
        async with open_model(config, store, environ={"CANARY_KEY": f" {CANARY}\n"}) as model:
            try:
                text = "hello" if script == "fine" else f"[[script:{script}]]"
                said += repr(await model.chat(ChatRequest(messages=(Message(role="user", content=text),))))
            except ModelError as error:
                said += repr(error) + "".join(traceback.format_exception(error))
            said += repr(model) + repr(config) + config.model_dump_json()
        store.export_jsonl(tmp_path / "s.jsonl")
    assert server.headers[-1]["Authorization"] == f"Bearer {CANARY}", "the test can see the key where it belongs"
    assert CANARY not in said + caplog.text + "".join(capfd.readouterr())
    for file in tmp_path.iterdir():
        assert CANARY.encode() not in file.read_bytes()


async def test_a_server_that_repeats_the_key_has_it_struck_out(
    server: Any, configure: Callable[..., Any], tmp_path: Path
) -> None:
    server.rules = [{"match": "tell", "reply": f"your key is {CANARY}"}]
    config = configure(server.url, api_key_env="CANARY_KEY")
    with CallStore(tmp_path / "s.sqlite") as store:
        async with open_model(config, store, environ={"CANARY_KEY": CANARY}) as model:
            reply = await model.chat(ChatRequest(messages=(Message(role="user", content="tell"),)))
    assert reply.text == "your key is ***"
    assert CANARY.encode() not in b"".join(file.read_bytes() for file in tmp_path.iterdir())


async def test_a_placeholder_key_does_not_spoil_replies(server: Any, configure: Callable[..., Any], tmp_path: Path) -> None:
    server.rules = [{"match": "tell", "reply": "the set is EMPTY"}]
    with CallStore(tmp_path / "s.sqlite") as store:
        async with open_model(configure(server.url, api_key_env="KEY"), store, environ={"KEY": "EMPTY"}) as model:
            assert (await model.chat(ChatRequest(messages=(Message(role="user", content="tell"),)))).text == "the set is EMPTY"


@pytest.mark.parametrize("key", ["", "  ", "sk canary 0123", "sk-ключ"])
async def test_a_missing_or_odd_key_names_the_variable_only(configure: Callable[..., Any], tmp_path: Path, key: str) -> None:
    with CallStore(tmp_path / "s.sqlite") as store:
        async with open_model(
            configure("http://127.0.0.1:9/v1", api_key_env="MY_KEY"), store, environ={"MY_KEY": key}
        ) as model:
            with pytest.raises(ConfigError, match="MY_KEY") as caught:
                await model.chat(ChatRequest(messages=(Message(role="user", content="x"),)))
    assert not key.strip() or key not in str(caught.value)


@pytest.mark.parametrize(
    "values",
    [
        {"api_key_env": CANARY},
        {"api_key": CANARY},
        {"base_url": f"https://user:{CANARY}@h/v1"},
        {"base_url": f"https://h/v1?key={CANARY}"},
    ],
)
def test_a_key_pasted_into_the_file_is_refused_and_not_shown(values: dict[str, str]) -> None:
    with pytest.raises(ConfigError) as caught:
        ModelConfig.parse("m", {"base_url": "http://h/v1", "model": "m"} | values)
    assert CANARY not in "".join(traceback.format_exception(caught.value))
    with contextlib.suppress(ValueError):
        ModelConfig(name="m", **values)  # type: ignore[arg-type]
