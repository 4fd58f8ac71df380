"""The specimen as the recorded calls were made on: its questions, its corpus, and its models replaying offline."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from vivavoce.agents.base import Agent, Seat
from vivavoce.assets import resolve
from vivavoce.config.base import load
from vivavoce.config.compose import compose
from vivavoce.config.experiment import ExperimentConfig
from vivavoce.corpus.ingest import ingest
from vivavoce.corpus.library import open_library
from vivavoce.judges.base import run_grading
from vivavoce.models.chat import ChatModel, ChatReply, ChatRequest
from vivavoce.models.client import open_model
from vivavoce.models.store import CallStore
from vivavoce.plan import Job, Plan
from vivavoce.records import Judgement, Question, Rollout


class Spied:
    """A model that notes the keys of its replies."""

    def __init__(self, model: ChatModel, keys: set[str]) -> None:
        self._model, self._keys = model, keys
        self.name, self.native_tools = model.name, model.native_tools

    async def chat(self, request: ChatRequest, *, sample: int = 0) -> ChatReply:
        reply = await self._model.chat(request, sample=sample)
        self._keys.add(reply.key)
        return reply


class Replay:
    """The experiment offline, with the shipped recording and nothing else."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.root, self.folder = root, folder
        self.config: ExperimentConfig = compose(root / "conf", {})
        self.plan = Plan(self.config, root)
        self.recording = root / self.config.recorded[0]
        self.keys: set[str] = set()
        self._questions: dict[str, list[Question]] = {}
        self._rollouts: dict[Job, list[Rollout]] = {}
        self._library: Any = None

    def questions(self, benchmark: str) -> list[Question]:
        if benchmark not in self._questions:
            choice = self.config.benchmark[benchmark]
            files, _ = resolve(choice.assets, self.folder, root=self.root, mirror=None, where=benchmark)
            self._questions[benchmark] = list(load(choice.read, "read")(files, choice.options))
        return self._questions[benchmark]

    def library(self) -> Any:
        if self._library is None:
            corpus = self.config.corpus["specimen"]
            files, _ = resolve(corpus.assets, self.folder, root=self.root, mirror=None, where="corpus")
            inputs = {**files, **({"pdfs": self.root / corpus.pdfs} if corpus.pdfs else {})}
            ingest(corpus, inputs, self.folder / "specimen")
            self._library = open_library(self.folder / "specimen")
        return self._library

    @asynccontextmanager
    async def model(self, name: str) -> AsyncIterator[ChatModel]:
        store = CallStore(self.folder / "none.sqlite", also=[self.recording], readonly=True)
        with store:
            async with open_model(self.config.model[name], store, offline=True, environ={}) as model:
                yield Spied(model, self.keys) if name == "smollm2" else model

    def agent(self, name: str) -> Agent:
        choice = self.config.agent[name]
        made: Agent = load(choice.run, "run")(name, choice.options)
        return made

    async def rollouts(self, job: Job) -> list[Rollout]:
        """All answers of a job; a call that is not recorded raises OfflineMissError."""
        if job not in self._rollouts:
            library = self.library() if self.config.agent[job.agent].reads_corpus else None
            async with self.model(job.model) as model:
                seat, agent = Seat(model=model, corpus=library, seed=job.seed), self.agent(job.agent)
                self._rollouts[job] = [
                    await agent.answer(question.unseen(), seat) for question in self.questions(job.benchmark)
                ]
        return self._rollouts[job]

    async def judgements(self, job: Job, judge: str) -> list[Judgement]:
        """What a judge with a model says of a job's rollouts."""
        choice = self.config.judge[judge]
        grader = import_module(self.config.benchmark[job.benchmark].grade)
        async with self.model(choice.model or "") as model:
            asked = load(choice.judge, "judge")(model, choice.options, name=judge, versions=choice.versions)
            pairs = zip(self.questions(job.benchmark), await self.rollouts(job), strict=True)
            return [item for pair in pairs for item in await run_grading(grader.grade(*pair), asked)]


@pytest.fixture(scope="session")
def replay(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Replay:
    return Replay(root, tmp_path_factory.mktemp("replay"))
