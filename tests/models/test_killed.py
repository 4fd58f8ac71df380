"""kill -9 in the middle of a batch: what was handed on is stored, and a resumed run pays for nothing twice that is."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import textwrap
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from vivavoce.models.store import CallStore

CALLS, CONCURRENCY = 60, 6
JOB = textwrap.dedent(
    """
    import asyncio, os, sys
    from pathlib import Path
    from vivavoce.config.model import ModelConfig
    from vivavoce.models.chat import ChatRequest, Message
    from vivavoce.models.client import open_model
    from vivavoce.models.loop import run
    from vivavoce.models.store import CallStore

    url, folder, calls, concurrency = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    (folder / "pid").write_text(str(os.getpid()))
    config = ModelConfig.parse("m", {"base_url": url, "model": "m", "concurrency": concurrency})

    async def main():
        with CallStore(folder / "calls.sqlite") as store:
            async with open_model(config, store) as model:
                async def one(number):
                    reply = await model.chat(ChatRequest(messages=(Message(role="user", content=f"question {number}"),)))
                    os.write(told, f"{reply.key}\\n".encode())  # the caller has it
                    return reply.text
                texts = await asyncio.gather(*(one(number) for number in range(calls)))
        (folder / "answers.txt").write_text("\\n".join(texts))

    told = os.open(folder / "told.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    run(main())
    """
)


def job(url: str, folder: Path) -> list[str]:
    return [sys.executable, "-c", JOB, url, str(folder), str(CALLS), str(CONCURRENCY)]


def paid(log: Path) -> list[str]:
    return [json.loads(line)["body"] for line in log.read_text().splitlines()]


def quiet(url: str) -> None:
    """Wait until the server has done with what the killed client had asked."""
    while True:
        with urllib.request.urlopen(url.removesuffix("/v1") + "/counts") as reply:
            if json.load(reply)["active"] == 0:
                return
        time.sleep(0.02)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What a run that nobody kills ends with."""
    folder = tmp_path_factory.mktemp("calm")
    command = [sys.executable, str(Path(__file__).with_name("scripted_server.py")), "--port-file", str(folder / "port")]
    with subprocess.Popen(command) as server:
        while not (folder / "port").exists():
            time.sleep(0.02)
        subprocess.run(job(f"http://127.0.0.1:{(folder / 'port').read_text()}/v1", folder), check=True)
        server.terminate()
    return (folder / "answers.txt").read_text()


@pytest.mark.parametrize("moment", [1, CALLS // 2, CALLS, "random 1", "random 2", "random 3", "random 4", "random 5"], ids=str)
def test_no_finished_call_is_paid_twice(serve: Callable[..., str], tmp_path: Path, moment: int | str, undisturbed: str) -> None:
    log, folder = tmp_path / "paid.jsonl", tmp_path / "killed"
    folder.mkdir()
    options = ["--log", str(log), "--latency", "0.01"]
    if isinstance(moment, int):
        options += ["--kill-at", str(moment), "--kill-pid-file", str(folder / "pid")]
    url = serve(*options)
    process = subprocess.Popen(job(url, folder))
    if isinstance(moment, str):
        after = random.Random(moment).randrange(1, CALLS)
        while process.poll() is None and (not log.exists() or len(log.read_text().splitlines()) < after):
            time.sleep(0.001)
        os.kill(process.pid, signal.SIGKILL)
    assert process.wait(60) == -signal.SIGKILL

    quiet(url)
    before = paid(log)
    told = set((folder / "told.txt").read_text().split())
    with CallStore(folder / "calls.sqlite", readonly=True) as store:
        stored = set(store.keys())
    assert told <= stored, "a reply that was handed on is on disk"
    assert len(set(before)) - len(stored) <= 2 * CONCURRENCY, "only what was on its way or being written can be lost"

    assert subprocess.run(job(url, folder), check=False).returncode == 0
    again = paid(log)[len(before) :]
    assert len(again) == CALLS - len(stored) == len(set(again)), "the resumed run pays for what is not stored, once"
    with CallStore(folder / "calls.sqlite") as store:
        store.export_jsonl(folder / "calls.jsonl")
    lines = [json.loads(line) for line in (folder / "calls.jsonl").read_text().splitlines()]
    assert len(lines) == CALLS

    assert (folder / "answers.txt").read_text() == undisturbed


def test_ctrl_c_ends_cleanly_and_keeps_what_was_finished(serve: Callable[..., str], tmp_path: Path) -> None:
    log = tmp_path / "paid.jsonl"
    url = serve("--log", str(log), "--latency", "0.05")
    process = subprocess.Popen(job(url, tmp_path), stderr=subprocess.PIPE, text=True)
    while not log.exists() or len(log.read_text().splitlines()) < 12:
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=20)[1]
    assert process.returncode != 0 and "Unclosed" not in said and "never retrieved" not in said
    with CallStore(tmp_path / "calls.sqlite") as store:
        stored = set(store.keys())
    assert set((tmp_path / "told.txt").read_text().split()) <= stored
    assert 12 - CONCURRENCY <= len(stored) < CALLS
