"""Questions a second through this project's model layer (store, limits and records on), beside the bare openai client and
inspect-ai, against a mock server that answers after 100 ms.

    python benchmarks/rollout_throughput.py [--questions 2000] [--rounds 3] [--compare-python PATH] [--memory]

Each client runs in a process of its own, in turn within each round; the best round counts. `ideal` is what `concurrency`
calls at a time allow; CPU is that of the client's process after its imports. openai and inspect-ai come with the extra
`compare`, or stand in another environment whose python --compare-python names; without them they are skipped.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

LATENCY = 0.1
PROMPT = "Which optimiser was used to train the model that the third table of the paper reports? " * 13  # some 200 words


def prompts(questions: int) -> Iterator[str]:
    """The questions, made as they are asked for."""
    return (f"Question {number}. {PROMPT}" for number in range(questions))


async def pool(questions: int, workers: int, one: Callable[[int, str], Awaitable[None]]) -> None:
    """Ask all questions, so many at a time, holding none in memory."""
    waiting = enumerate(prompts(questions))

    async def work() -> None:
        for number, text in waiting:
            await one(number, text)

    await asyncio.gather(*(work() for _ in range(workers)))


async def ours(url: str, questions: int, turns: int, concurrency: int, folder: Path) -> None:
    """This project: every call stored before it is handed on, limiter on, one rollout line a question."""
    import msgspec

    from vivavoce.config.model import ModelConfig
    from vivavoce.models.chat import ChatRequest, Message
    from vivavoce.models.client import open_model
    from vivavoce.models.store import CallStore
    from vivavoce.records import Rollout, Turn, Usage

    limits = {"concurrency": concurrency, "requests_per_minute": 10_000_000, "tokens_per_minute": 1_000_000_000}
    config = ModelConfig.parse("mock", {"base_url": url, "model": "mock", **limits})
    encode = msgspec.json.Encoder().encode
    with CallStore(folder / "calls.sqlite") as store, (folder / "rollouts.jsonl").open("wb") as lines:
        async with open_model(config, store) as model:

            async def one(number: int, text: str) -> None:
                messages = [Message(role="user", content=text)]
                done, usage, answer = [], Usage(), ""
                for _ in range(turns):
                    reply = await model.chat(ChatRequest(messages=tuple(messages)))
                    answer, usage = reply.text, usage + reply.usage
                    done.append(Turn(thought=answer, calls=(reply.key,)))
                    messages += [Message(role="assistant", content=answer), Message(role="user", content="Go on.")]
                names = {"question_id": str(number), "agent": "bench", "model": "mock", "seed": 0}
                rollout = Rollout(**names, outcome="answered", answer=answer, turns=tuple(done), usage=usage)  # type: ignore[arg-type]
                lines.write(encode(rollout) + b"\n")

            await pool(questions, concurrency, one)


async def bare(url: str, questions: int, turns: int, concurrency: int, folder: Path) -> None:
    """The openai client alone: nothing stored, nothing limited but the number of workers."""
    from openai import AsyncOpenAI

    async with AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:

        async def one(number: int, text: str) -> None:
            messages: list[Any] = [{"role": "user", "content": text}]
            for _ in range(turns):
                reply = await client.chat.completions.create(model="mock", messages=messages, temperature=0.0, max_tokens=1024)
                messages += [
                    {"role": "assistant", "content": reply.choices[0].message.content},
                    {"role": "user", "content": "Go on."},
                ]

        await pool(questions, concurrency, one)


async def inspect(url: str, questions: int, turns: int, concurrency: int, folder: Path) -> None:
    """inspect-ai with its log, as its users run it."""
    from inspect_ai import Task, eval_async
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ChatMessageUser, GenerateConfig, get_model
    from inspect_ai.solver import solver

    @solver
    def talk() -> Any:
        async def solve(state: Any, generate: Any) -> Any:
            for turn in range(turns):
                if turn:
                    state.messages.append(ChatMessageUser(content="Go on."))
                state = await generate(state)
            return state

        return solve

    config = GenerateConfig(max_connections=concurrency, temperature=0.0, max_tokens=1024)
    model = get_model("openai/mock", base_url=url, api_key="none", config=config, responses_api=False)
    task = Task(dataset=[Sample(input=text) for text in prompts(questions)], solver=talk())
    logs = await eval_async(task, model=model, log_dir=str(folder), max_samples=concurrency)
    if logs[0].status != "success":
        raise SystemExit(f"inspect-ai ended as {logs[0].status}: {logs[0].error}")


CLIENTS = {"ours": ours, "bare": bare, "inspect": inspect}
NEEDS = {"ours": "vivavoce", "bare": "openai", "inspect": "inspect_ai, openai"}


def child(options: argparse.Namespace) -> None:
    """Run one client; print what it took as JSON."""
    importlib.import_module({"ours": "vivavoce.models.http", "bare": "openai", "inspect": "inspect_ai"}[options.client])
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        wall, cpu = time.perf_counter(), time.process_time()
        work = CLIENTS[options.client](options.url, options.questions, options.turns, options.concurrency, Path(folder))
        (importlib.import_module("vivavoce.models.loop").run if options.client == "ours" else asyncio.run)(work)
        taken = {"seconds": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    print(json.dumps(taken | {"peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))


def run(
    client: str, python: str, url: str, questions: int, turns: int, concurrency: int, folder: str | None
) -> dict[str, float]:
    """Run one client in a process of its own."""
    command = [python, __file__, "--client", client, "--url", url, "--questions", str(questions), "--turns", str(turns)]
    command += ["--concurrency", str(concurrency), *(["--folder", folder] if folder else [])]
    env = os.environ | {"INSPECT_DISPLAY": "none"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    if done.returncode:
        raise SystemExit(f"{client} failed:\n{done.stderr[-2000:]}")
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=2000, help="of one call; a fifth as many of five turns")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--concurrency", type=int, nargs="+", default=[16, 64])
    parser.add_argument("--turns", type=int, nargs="+", default=[1, 5])
    parser.add_argument("--compare-python", default=sys.executable)
    parser.add_argument("--only", nargs="+", default=list(CLIENTS), choices=list(CLIENTS))
    parser.add_argument("--memory", action="store_true", help="peak memory at 1,000 and 20,000 questions instead")
    parser.add_argument("--folder", help="where stores and logs are written (default: the temporary folder)")
    if "--client" in sys.argv:
        for name in ("--client", "--url"):
            parser.add_argument(name)
        options = parser.parse_args()
        options.turns, options.concurrency = options.turns[0], options.concurrency[0]
        child(options)
        return
    options = parser.parse_args()
    pythons = {name: sys.executable if name == "ours" else options.compare_python for name in options.only}
    for name in list(pythons):
        if subprocess.run([pythons[name], "-c", f"import {NEEDS[name]}"], capture_output=True, check=False).returncode:
            print(f"{name} is skipped: {pythons[name]} lacks {NEEDS[name]}")
            del pythons[name]
    latency = 0.0 if options.memory else LATENCY
    server = [sys.executable, str(Path(__file__).with_name("mock_server.py")), "--latency", str(latency)]
    with subprocess.Popen(server, stdout=subprocess.PIPE, text=True) as mock:
        assert mock.stdout
        url = f"http://127.0.0.1:{mock.stdout.readline().strip()}/v1"
        try:
            if options.memory:
                for questions in (1000, 20_000):
                    got = run("ours", sys.executable, url, questions, 1, 64, options.folder)
                    print(f"{questions:6} questions: peak {got['peak_mb']:.0f} MB, {questions / got['seconds']:.0f} a second")
            else:
                table(pythons, url, options)
        finally:
            mock.kill()


def table(pythons: dict[str, str], url: str, options: argparse.Namespace) -> None:
    """Measure and print one line a client and setting, the best of the rounds."""
    print(f"{'turns':>5} {'conc.':>5} {'client':8} {'questions/s':>11} {'of ideal':>8} {'CPU ms/call':>11} {'peak MB':>7}")
    for turns in options.turns:
        questions = options.questions if turns == 1 else options.questions // 5
        for concurrency in options.concurrency:
            best: dict[str, dict[str, float]] = {}
            for _ in range(options.rounds):
                for name, python in pythons.items():
                    got = run(name, python, url, questions, turns, concurrency, options.folder)
                    if name not in best or got["seconds"] < best[name]["seconds"]:
                        best[name] = got
            for name, got in best.items():
                rate, ideal = questions / got["seconds"], concurrency / LATENCY / turns
                cpu = 1000 * got["cpu"] / (questions * turns)
                print(
                    f"{turns:5} {concurrency:5} {name:8} {rate:11.1f} {rate / ideal:8.2f} {cpu:11.2f} {got['peak_mb']:7.0f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
