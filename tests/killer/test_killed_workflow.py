"""kill -9 of the whole workflow, again and again, with `make resume` in between; and Ctrl-C."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.workflow
CALLS = {"rollout": 36, "judge": 24}


@pytest.mark.parametrize("stage", ["rollout", "judge"])
def test_make_resume_after_every_kill(
    stage: str, project: Any, reference: Any, examiner: Any, kill_at: Callable[..., None]
) -> None:
    """Killed at the first, a middle and the last call of what is left: the tables are those of the undisturbed run."""
    start: Callable[[], Any] = project.start
    asked: dict[str, int] = {}
    for share in (0.0, 0.5, 1.0):
        kept = project.stored()
        left = CALLS[stage] - len(project.stored(stage))
        asked = examiner.asked()
        kill_at(start, stage, max(1, round(share * left)))
        assert not [body for body in kept if examiner.asked()[body] > asked[body]], "a stored call was paid again"
        start = project.resume
    kept, asked = project.stored(), examiner.asked()
    run = project.resume()
    assert run.wait() == 0, project.said()
    again = {body: count - asked.get(body, 0) for body, count in examiner.asked().items()}
    assert sum(again.values()) == sum(CALLS.values()) - len(kept)
    assert not [body for body in kept if again[body]]
    assert project.results() == reference.results()
    assert "nothing" in project.run()[1].lower(), "all is done"


def test_ctrl_c_stops_cleanly(project: Any, reference: Any, examiner: Any) -> None:
    """SIGINT to the whole group, as a terminal sends it: finished calls are kept, and `make resume` goes on."""
    started: list[Any] = []
    ready = threading.Event()

    def hook(_: str, __: int) -> None:
        if examiner.requests == 14:
            ready.wait(10)
            started[0].signal(signal.SIGINT)

    examiner.hook = hook
    started.append(project.start())
    ready.set()
    assert started[0].wait() != 0
    assert examiner.quiet()
    said = project.said()
    assert "stopped; what was finished is kept" in said
    assert "Traceback" not in said
    kept, asked = project.stored(), examiner.asked()
    assert 14 - 6 <= len(kept) < 36
    assert not list((project.folder / ".snakemake" / "locks").glob("*")), "no lock is left"

    assert project.resume().wait() == 0, project.said()
    assert not [body for body in kept if examiner.asked()[body] > asked[body]]
    assert project.results() == reference.results()
