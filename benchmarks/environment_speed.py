"""Speed of the agents' environment without model time: tool calls a second, and CPU milliseconds of a 5-turn rollout.

    python benchmarks/environment_speed.py results/corpora/specimen [--rollouts 200]

The corpus is any that `ingest` made. The scripted model answers at once, so a rollout's CPU time is the environment's own:
rendering prompts, parsing, running tools, recording. CPU time includes that of the SQL worker processes.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import time
from collections.abc import Awaitable, Callable, Mapping
from itertools import count
from pathlib import Path
from typing import Any

from vivavoce.agents.base import Seat
from vivavoce.agents.tool_loop import ToolLoop
from vivavoce.corpus.library import open_library
from vivavoce.models.chat import ChatReply, ChatRequest
from vivavoce.records import Question, Usage
from vivavoce.tools.database import Database
from vivavoce.tools.toolbox import Toolbox


class Instant:
    """Says the lines of a 5-turn rollout without delay."""

    name, native_tools, images = "instant", False, True

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines

    async def chat(self, request: ChatRequest, *, sample: int = 0) -> ChatReply:
        """The line of the turn that the history says it is."""
        return ChatReply(text=self._lines[len(request.fields["history"])], usage=Usage(calls=1), key="k")


async def per_second(run: Callable[[], Awaitable[object]], seconds: float = 2.0) -> float:
    """How often `run` completes in a second, one after the other."""
    await run()
    start, done = time.perf_counter(), 0
    while time.perf_counter() - start < seconds:
        await run()
        done += 1
    return done / (time.perf_counter() - start)


def varied(toolbox: Toolbox, action: str, arguments: Mapping[str, Any]) -> Callable[[], Awaitable[object]]:
    """The call with another query each time, since embeddings of queries and checked SQL are kept."""
    number = count()

    def run() -> Awaitable[object]:
        changed = dict(arguments)
        if "query" in changed:
            changed["query"] += f" {next(number)}"
        if "sql" in changed:
            changed["sql"] += f" OFFSET {next(number) % 1000}"
        return toolbox.run(action, changed)

    return run


def cpu_seconds() -> float:
    """CPU time of this process and of its children that have ended."""
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    )


async def main(folder: Path, rollouts: int) -> None:
    """Print both tables."""
    library = open_library(folder)
    paper = library.papers()[0]
    database = Database(library.database)
    toolbox = Toolbox(library, database, papers=[paper.id])
    vector = {"query": "main result", "table_name": "chunks", "column_name": "text_content", "filter": "", "limit": 5}
    calls = {
        "RetrieveFromDatabase": {"sql": f"SELECT text_content FROM chunks WHERE ref_paper_id = '{paper.id}' LIMIT 5"},  # noqa: S608
        "RetrieveFromVectorstore (BM25)": {**vector, "collection_name": "text_bm25_en"},
        "RetrieveFromVectorstore (MiniLM)": {**vector, "collection_name": "text_sentence_transformers_all_minilm_l6_v2"},
        "ClassicRetrieve (MiniLM)": {"query": "main result", "limit": 5},
        "CalculateExpr": {"expr": "(87.1 - 84.9) / 84.9 * 100"},
        "ViewImage": {"paper_id": paper.id, "page_number": 1, "bounding_box": []},
    }
    print("| tool | calls a second |\n| --- | ---: |")
    for name, arguments in calls.items():
        action = name.split(" ")[0]
        seen = await toolbox.run(action, arguments)
        rate = f"{await per_second(varied(toolbox, action, arguments)):,.0f}"
        print(f"| {name} | {rate if not seen.error else seen.error} |")
    sql = calls["RetrieveFromDatabase"]["sql"]
    lines = [
        f'[Thought]: rows\n[Action]: RetrieveFromDatabase(sql="{sql}")',
        "[Thought]: search\n[Action]: RetrieveFromVectorstore(query='main result', collection_name='text_bm25_en', "
        "table_name='chunks', column_name='text_content', filter='', limit=5)",
        "[Thought]: a mistake\n[Action]: RetrieveFromDatabase(sql='SELECT nothing FROM chunks')",
        "[Thought]: compute\n[Action]: CalculateExpr(expr='87.1 - 84.9')",
        "[Thought]: done\n[Action]: GenerateAnswer(answer=2.2)",
    ]
    agent = ToolLoop("hybrid", {"space": "hybrid"})
    seat = Seat(model=Instant(lines), corpus=library)
    text = "What is the main result?"
    question = Question(id="q", benchmark="b", task="airqa", text=text, answer_format="a float", papers=(paper.id,))
    await agent.answer(question, seat)
    cpu, wall = cpu_seconds(), time.perf_counter()
    for _ in range(rollouts):
        rollout = await agent.answer(question, seat)
        if len(rollout.turns) != 5 or rollout.outcome != "answered":
            raise SystemExit(f"expected an answer after 5 turns: {rollout}")
    wall = time.perf_counter() - wall
    del agent  # ends its workers, whose CPU time then counts
    cpu = cpu_seconds() - cpu
    database.close()
    print("\n| 5-turn rollout, one after the other | |\n| --- | ---: |")
    print(f"| CPU milliseconds a rollout (workers' start included) | {cpu / rollouts * 1000:.1f} |")
    print(f"| rollouts a second | {rollouts / wall:.1f} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--rollouts", type=int, default=200)
    options = parser.parse_args()
    asyncio.run(main(options.corpus, options.rollouts))
