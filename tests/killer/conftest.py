"""A scripted server inside the test process, and a project with a small examination that is put to it.

One server serves all tests: its port stands in the frozen configuration and in the calls' keys, so that results can be compared
byte for byte.
"""

from __future__ import annotations

import asyncio
import hashlib
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from vivavoce.files import canonical
from vivavoce.models.store import CallStore

PARTS = ("Snakefile", "Makefile", "conf", "scripts", "src", "envs")
STAGES = {"judge": re.compile("Candidate's answer"), "rollout": re.compile("expert reader")}
CANARY = "sk-canary-5f1d0c7e9ab24c6d8e"
RULES = [  # the judge marks questions with an even number as right; the loop calculates once, then answers
    {"match": r"\[q\d[02468]\].*Candidate's answer", "reply": "It says the same.\n```txt\nTrue\n```"},
    {"match": r"Candidate's answer", "reply": "It does not.\n```txt\nFalse\n```"},
    {"match": r"\[Observation\]:\n", "reply": "[Thought]: enough\n[Action]: GenerateAnswer(answer='it grows, {digest}')"},
    {"match": r"Written as:", "reply": "[Thought]: count\n[Action]: CalculateExpr(expr='1 + 1')"},
]
MODEL = """# @package model.{name}
base_url: {url}
model: {name}
api_key_env: EXAM_KEY
concurrency: {concurrency}
retries: 1
timeout: 20
{more}
"""


def _scripted(root: Path) -> Any:
    spec = importlib.util.spec_from_file_location("scripted_server", root / "tests" / "models" / "scripted_server.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Examiner:
    """The scripted server in a thread of its own; `hook` is called with the stage and number of each call that comes in."""

    def __init__(self, scripted: Any) -> None:
        owner = self

        class Hooked(scripted.Server):  # type: ignore[misc]
            async def complete(self, request: Any) -> Any:
                raw = (await request.read()).decode()
                stage = next((name for name, mark in STAGES.items() if mark.search(raw)), "")
                owner.calls[stage] = owner.calls.get(stage, 0) + 1
                if owner.hook is not None:
                    owner.hook(stage, owner.calls[stage])
                if owner.failing and owner.failing.search(raw):
                    owner.turned_away += 1
                    return scripted._error(500, {"message": "The server had an error"})
                return await super().complete(request)

        self._make = lambda: Hooked(latency=0.01, wait=0.2, rules=RULES)
        self._scripted = scripted
        self._loop = asyncio.new_event_loop()
        self._runner: Any = None
        self.calls: dict[str, int] = {}
        self.hook: Callable[[str, int], None] | None = None
        self.failing: re.Pattern[str] | None = None
        self.turned_away = 0
        self.server = self._make()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.port = 0
        self.up()

    @property
    def url(self) -> str:
        """Its base URL."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def requests(self) -> int:
        """How many calls came in."""
        return sum(self.calls.values())

    def up(self) -> None:
        """Listen, on the port of before."""
        self._runner, self.port = self._run(self._scripted.start(self.server, self.port))

    def down(self) -> None:
        """Stop listening."""
        self._run(self._runner.cleanup())

    def quiet(self, seconds: float = 10.0) -> bool:
        """Wait until what a killed client had asked is answered; whether it is."""
        end = time.monotonic() + seconds
        while self.server.active and time.monotonic() < end:
            time.sleep(0.01)
        return self.server.active == 0

    def forget(self) -> None:
        """Count anew; calls that a script lets hang are cut off."""
        if not self.quiet(0.5):
            self.down()
            self.server = self._make()
            self.up()
        self.calls, self.hook, self.failing, self.turned_away = {}, None, None, 0
        self.server.asked.clear()
        self.server.finished.clear()
        self.server.requests = 0

    def asked(self) -> dict[str, int]:
        """How often each body came."""
        return dict(self.server.asked)

    def _run(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(30)


class Run:
    """A process in a group of its own; what it says goes to a file."""

    def __init__(self, command: list[str], folder: Path, environment: dict[str, str]) -> None:
        self.said = folder / "said.txt"
        with self.said.open("a") as stream:
            self.process = subprocess.Popen(
                command, cwd=folder, env=environment, stdout=stream, stderr=subprocess.STDOUT, start_new_session=True
            )

    def signal(self, number: int) -> None:
        """To the whole group, as a terminal or an operating system does."""
        os.killpg(self.process.pid, number)

    def wait(self) -> int:
        """Its exit code."""
        return self.process.wait(240)


class Project:
    """A copy of the project that can be run, killed and resumed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        keep = {key: value for key, value in os.environ.items() if not key.startswith("VIVAVOCE_")}
        self.environment = {**keep, "PYTHONPATH": f"{folder / 'src'}{os.pathsep}{folder}", "EXAM_KEY": CANARY}

    def start(self, *config: str, experiment: str = "exam", tracking: str = "none", **environment: str) -> Run:
        """Start snakemake."""
        command = [sys.executable, "-m", "snakemake", "--cores", "2", "--config", f"experiment={experiment}"]
        return Run([*command, f"tracking={tracking}", *config], self.folder, {**self.environment, **environment})

    def run(self, *config: str, **options: Any) -> tuple[int, str]:
        """Run snakemake to its end; exit code and what it said."""
        before = self.said()
        code = self.start(*config, **options).wait()
        return code, self.said()[len(before) :]

    def resume(self, *config: str) -> Run:
        """The documented command after a crash, with this interpreter's environment."""
        words = " ".join(("experiment=exam", "tracking=none", *config))
        tools = ["-o", ".venv/.installed", f"ENV={Path(sys.executable).parent}", "CORES=2", f"CONFIG={words}"]
        return Run(["make", "resume", *tools], self.folder, self.environment)

    def said(self) -> str:
        """What all runs said."""
        path = self.folder / "said.txt"
        return path.read_text() if path.exists() else ""

    def results(self) -> dict[str, bytes]:
        """Every file under results/experiments, by relative path."""
        top = self.folder / "results" / "experiments"
        return {str(path.relative_to(top)): path.read_bytes() for path in sorted(top.rglob("*")) if path.is_file()}

    def stored(self, stage: str = "") -> set[str]:
        """The bodies of all calls in the stores (of a stage), as the server numbers them."""
        return bodies(self.folder / ".vivavoce" / "calls" / stage)


class Stage:
    """One step on a folder of its own, by the very script that the workflow calls."""

    def __init__(self, reference: Project, folder: Path, name: str) -> None:
        self.name, self.folder, self.reference = name, folder, reference
        job = "exam/exam_loop/scripted/s0"
        self.output = folder / (
            f"results/rollouts/{job}.jsonl" if name == "rollout" else f"results/judgements/{job}/examiner.jsonl"
        )
        needed = ["results/data", "results/experiments/exam/config.yaml", *(["results/rollouts"] if name == "judge" else [])]
        for part in needed:
            source, target = reference.folder / part, folder / part
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target)
            else:
                shutil.copy(source, target)
        self.command = [sys.executable, str(reference.folder / "scripts" / f"{name}.py")]
        self.command += [
            "--config",
            "results/experiments/exam/config.yaml",
            "--digest",
            "d",
            "--log",
            f"results/logs/{name}.log",
        ]
        self.command += ["--benchmark", "exam", "--agent", "exam_loop", "--model", "scripted", "--seed", "0"]
        self.command += ["--questions", "results/data/exam/questions.jsonl"]
        if name == "judge":
            self.command += ["--judge", "examiner", "--rollouts", f"results/rollouts/{job}.jsonl"]
        self.command += ["--output", str(self.output.relative_to(folder))]

    def start(self, **environment: str) -> Run:
        """Start it."""
        return Run(self.command, self.folder, {**self.reference.environment, **environment})

    def run(self, **environment: str) -> tuple[int, str]:
        """Run it to its end; exit code and what it said."""
        path = self.folder / "said.txt"
        before = len(path.read_text()) if path.exists() else 0
        code = self.start(**environment).wait()
        return code, path.read_text()[before:]

    def stored(self) -> set[str]:
        """The bodies of the calls in its store."""
        return bodies(self.folder / ".vivavoce" / "calls")

    def lines(self, path: Path | None = None) -> list[dict[str, Any]]:
        """Its output without the seconds that calls took, which no two runs share."""
        lines = [json.loads(line) for line in (path or self.output).read_text().splitlines()]
        for line in lines:
            line.get("usage", {}).pop("seconds", None)
        return lines

    def expected(self) -> list[dict[str, Any]]:
        """What the undisturbed run ended with."""
        return self.lines(self.reference.folder / self.output.relative_to(self.folder))


def bodies(folder: Path) -> set[str]:
    """The digests of the request bodies in all call stores below a folder."""
    found = set()
    for path in sorted(folder.rglob("*.sqlite")):
        with CallStore(path, readonly=True) as store:
            export = path.with_suffix(".test.jsonl")
            store.export_jsonl(export)
        for line in export.read_text().splitlines():
            body = canonical(json.loads(line)["request"]["body"])
            found.add(hashlib.sha256(body.encode()).hexdigest())
        export.unlink()
    return found


@pytest.fixture(scope="session")
def _examiner(root: Path) -> Iterator[Examiner]:
    examiner = Examiner(_scripted(root))
    yield examiner
    examiner.down()


@pytest.fixture
def examiner(_examiner: Examiner) -> Examiner:
    """The server, with nothing counted yet."""
    _examiner.forget()
    return _examiner


@pytest.fixture(scope="session")
def _original(root: Path, _examiner: Examiner, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project as it is now, with the examination added: what all copies are made from."""
    folder = tmp_path_factory.mktemp("original") / "project"
    folder.mkdir()
    for part in PARTS:
        source = root / part
        if source.is_dir():
            shutil.copytree(source, folder / part, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        else:
            shutil.copy(source, folder / part)
    shutil.copytree(Path(__file__).parent / "exam", folder, dirs_exist_ok=True)
    for name, concurrency, more in (
        ("scripted", 3, ""),
        ("scripted_judge", 2, ""),
        ("impatient", 64, "timeout: 1.5\ncall_timeout: 8"),
        ("impatient_native", 64, "timeout: 1.5\ncall_timeout: 8\ntool_calls: native"),
    ):
        text = MODEL.format(name=name, url=_examiner.url, concurrency=concurrency, more=more)
        lines = {line.split(":")[0]: line for line in text.splitlines()}  # what comes later counts
        (folder / "conf" / "model" / f"{name}.yaml").write_text("\n".join(lines.values()) + "\n")
    return folder


@pytest.fixture(scope="session")
def _make(_original: Path) -> Callable[[Path], Project]:
    def make(folder: Path) -> Project:
        shutil.copytree(_original, folder)
        return Project(folder)

    return make


@pytest.fixture
def project(_make: Callable[[Path], Project], tmp_path: Path) -> Project:
    """A project that has run nothing."""
    return _make(tmp_path / "project")


@pytest.fixture(scope="session")
def reference(_make: Callable[[Path], Project], _examiner: Examiner, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The undisturbed run."""
    made = _make(tmp_path_factory.mktemp("undisturbed") / "project")
    _examiner.forget()
    code, said = made.run()
    assert code == 0, said
    assert set(_examiner.asked().values()) == {1}
    assert _examiner.calls == {"rollout": 36, "judge": 24}
    return made


@pytest.fixture
def stage(reference: Project, tmp_path: Path) -> Callable[[str], Stage]:
    """Make a folder in which one step can run."""
    return lambda name: Stage(reference, tmp_path / "stage", name)


@pytest.fixture
def kill_at(examiner: Examiner) -> Callable[..., None]:
    """Have the server kill -9 a run's whole group at the very moment when a stage's call number k comes in."""

    def arm(run: Callable[[], Run], stage: str, number: int, after: float = 0.0) -> None:
        armed = threading.Event()
        started: list[Run] = []

        def hook(name: str, count: int) -> None:
            if name == stage and count == number:
                examiner.hook = None
                armed.wait(10)
                if after:
                    threading.Timer(after, started[0].signal, (signal.SIGKILL,)).start()
                else:
                    started[0].signal(signal.SIGKILL)

        examiner.calls.clear()
        examiner.hook = hook
        started.append(run())
        armed.set()
        assert started[0].wait() == -signal.SIGKILL, started[0].said.read_text()
        assert examiner.quiet()

    return arm
