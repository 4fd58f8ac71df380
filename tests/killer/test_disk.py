"""A full disk, a folder that cannot be written, two runs at once: one clear message, nothing corrupt, and the run goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.workflow
CALLS = 24
Mount = Callable[..., None]


@pytest.fixture
def mount() -> Iterator[Mount]:
    """Mount a small file system (tmpfs) on a folder, or change its options; needs root."""
    mounted: list[Path] = []

    def call(folder: Path, options: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        again = ",".join(["remount", options]) if folder in mounted else options
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", again, "tmpfs", str(folder)], capture_output=True, text=True, check=False
        )
        if done.returncode:
            pytest.skip(f"no small file system can be mounted here: {done.stderr.strip()}")
        mounted.append(folder)

    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("mounting a small file system needs root on Linux")
    yield call
    for folder in dict.fromkeys(mounted):
        subprocess.run(["umount", "-l", str(folder)], check=False)


def errors(said: str) -> list[str]:
    """The lines that say what is wrong."""
    assert "Traceback" not in said
    return [line for line in said.splitlines() if line.startswith("error:")]


def test_a_full_disk_under_the_call_store(stage: Callable[[str], Any], examiner: Any, mount: Mount) -> None:
    step = stage("rollout")
    mount(step.folder / ".vivavoce", "size=120k")
    code, said = step.run()
    assert code == 1, said
    (message,) = errors(said)
    assert "the call store does not work" in message
    assert "Free some space and run again: every call stored before is kept" in message
    assert not step.output.exists()
    mount(step.folder / ".vivavoce", "size=20m")
    kept, asked = step.stored(), examiner.asked()
    assert len(kept) < CALLS

    code, said = step.run()
    assert code == 0, said
    assert not [body for body in kept if examiner.asked()[body] > asked[body]]
    assert step.lines() == step.expected()


def test_a_full_disk_under_the_results(stage: Callable[[str], Any], examiner: Any, mount: Mount) -> None:
    step = stage("rollout")
    mount(step.folder / "results/rollouts", "size=8k")
    mount(step.folder / "results/logs", "size=4k")
    (step.folder / "results/logs/ballast").write_text("." * 4096)
    code, said = step.run()
    assert code == 1, said
    (message,) = errors(said)
    assert "No space left on device. Free some space and run again" in message
    assert "results/rollouts/exam/exam_loop/scripted/s0.jsonl" in message
    assert not list((step.folder / "results/rollouts").rglob("*.jsonl*")), "nothing half written is left"
    assert len(step.stored()) == CALLS

    mount(step.folder / "results/rollouts", "size=2m")
    asked = examiner.asked()
    code, said = step.run()
    assert code == 0, said
    assert examiner.asked() == asked, "no call is paid twice"
    assert step.lines() == step.expected()


@pytest.mark.parametrize("name", ["rollout", "judge"])
def test_a_results_folder_that_cannot_be_written(name: str, stage: Callable[[str], Any], examiner: Any, mount: Mount) -> None:
    step = stage(name)
    place = step.folder / ("results/rollouts" if name == "rollout" else "results/judgements")
    mount(place, "ro")
    code, said = step.run()
    assert code == 1, said
    (message,) = errors(said)
    assert "Read-only file system. Make the folder writable" in message
    assert str(place.relative_to(step.folder)) in message
    mount(place, "rw")
    asked = examiner.asked()
    code, said = step.run()
    assert code == 0, said
    assert examiner.asked() == asked
    assert step.lines() == step.expected()


def test_a_second_step_on_the_same_store_is_told_so(stage: Callable[[str], Any], examiner: Any) -> None:
    step = stage("rollout")
    first = stopped_at(examiner, step.start, 5)
    second = subprocess.run(
        step.command, cwd=step.folder, env=step.reference.environment, capture_output=True, text=True, check=False
    )
    first.signal(signal.SIGCONT)
    assert second.returncode == 1
    (message,) = errors(second.stderr)
    assert "is in use by another process" in message
    assert "let the other workflow end, or stop it" in message
    assert first.wait() == 0
    assert set(examiner.asked().values()) == {1}
    assert step.lines() == step.expected()


def test_a_second_workflow_in_the_folder_is_told_so(project: Any, reference: Any, examiner: Any) -> None:
    first = stopped_at(examiner, project.start, 5)
    command = [sys.executable, "-m", "snakemake", "--cores", "2", "--config", "experiment=exam", "tracking=none"]
    second = subprocess.run(command, cwd=project.folder, env=project.environment, capture_output=True, text=True, check=False)
    first.signal(signal.SIGCONT)
    assert second.returncode != 0
    said = second.stdout + second.stderr
    assert "Directory cannot be locked" in said
    assert "no other Snakemake process" in said
    assert "Traceback" not in said
    assert first.wait() == 0, project.said()
    assert set(examiner.asked().values()) == {1}
    assert project.results() == reference.results()


def stopped_at(examiner: Any, start: Callable[[], Any], number: int) -> Any:
    """Start a run and stop its whole group (it can go on later) when its call `number` comes in."""
    started: list[Any] = []
    ready, done = threading.Event(), threading.Event()

    def hook(_: str, __: int) -> None:
        if examiner.requests == number:
            ready.wait(10)
            started[0].signal(signal.SIGSTOP)
            done.set()

    examiner.hook = hook
    started.append(start())
    ready.set()
    assert done.wait(120), json.dumps(examiner.calls)
    return started[0]
