"""The tracking store: created once, before anything logs (two processes that open a new store together break it)."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mlflow import MlflowClient


@contextlib.contextmanager
def locked(uri: str) -> Iterator[None]:
    """Hold the store for one writer at a time: a lock file beside a SQLite store, nothing for a server."""
    if not uri.startswith("sqlite:///"):
        yield
        return
    path = Path(uri.removeprefix("sqlite:///") + ".lock")
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def client(uri: str) -> MlflowClient:
    """A client of the store at `uri`. Importing MLflow takes seconds: only the tracker does."""
    os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
    os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")
    from mlflow import MlflowClient

    return MlflowClient(tracking_uri=uri)


def initialise(uri: str, experiment: str) -> str:
    """Create the store if it is new, and the experiment; returns the experiment's id. May be called any number of times."""
    with locked(uri):
        return experiment_id(client(uri), uri, experiment)


def experiment_id(store: MlflowClient, uri: str, experiment: str) -> str:
    """The experiment's id, created if there is none. The caller holds the lock."""
    found = store.get_experiment_by_name(experiment)
    if found is not None:
        return str(found.experiment_id)
    place = None
    if uri.startswith("sqlite:///"):
        place = (Path(uri.removeprefix("sqlite:///")).resolve().parent / "mlartifacts" / experiment).as_uri()
    return str(store.create_experiment(experiment, artifact_location=place))
