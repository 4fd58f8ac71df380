"""Mirror finished steps into MLflow: one parent run an experiment, one child a step and its names, found again by tag.

Steps only write manifests; one process reads them here. So parallel steps cannot lose or corrupt each other's records, and no
short step pays for importing MLflow.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vivavoce.files import sha256, write_json
from vivavoce.tracking import naming
from vivavoce.tracking.store import client, experiment_id, locked

if TYPE_CHECKING:
    from mlflow import MlflowClient

log = logging.getLogger(__name__)
KEY = "vivavoce.key"
MANIFEST = "vivavoce.manifest_sha256"


class Mirror:
    """Mirrors the manifests of one experiment; `state` remembers what is in the store."""

    def __init__(self, uri: str, experiment: str, state: Path, frozen: Path, *, megabytes: int) -> None:
        self.uri, self.experiment, self.state, self.frozen = uri, experiment, state, frozen
        self._limit = megabytes * 1_000_000
        self._known: dict[str, str] = json.loads(state.read_text()) if state.is_file() else {}
        self._client: MlflowClient | None = None
        self._ids: dict[str, str] = {}
        self._seen: dict[Path, tuple[int, int]] = {}

    def sync(self, manifests: Iterable[Path]) -> int:
        """Mirror the manifests that are new or changed; returns how many."""
        changed = [
            (path, digest)
            for path in manifests
            if self._touched(path) and self._known.get(str(path)) != (digest := sha256(path))
        ]
        if changed:
            with locked(self.uri):
                parent = self._parent()
                for path, digest in changed:
                    self._child(json.loads(path.read_text(encoding="utf-8")), path, digest, parent)
                    self._known[str(path)] = digest
                write_json(self.state, self._known)
        return len(changed)

    def _touched(self, path: Path) -> bool:
        """Whether a manifest is there and was written since it was last looked at: thousands are looked at every second."""
        try:
            stat = path.stat()
        except FileNotFoundError:
            return False
        seen, self._seen[path] = self._seen.get(path), (stat.st_mtime_ns, stat.st_ino)
        return seen != self._seen[path]

    def close(self) -> None:
        """Mark the experiment's run as finished, if this mirror wrote to it."""
        if self._client is not None:
            with locked(self.uri):
                self._store.set_terminated(self._parent(), "FINISHED")

    def _parent(self) -> str:
        config = sha256(self.frozen)
        run = self._run(f"experiment/{self.experiment}", self.experiment, {})
        self._store.update_run(run, status="RUNNING")
        if self._known.get(str(self.frozen)) != config:
            self._store.log_artifact(run, str(self.frozen))
            self._store.set_tag(run, "vivavoce.config_sha256", config)
            self._known[str(self.frozen)] = config
        return run

    def _child(self, manifest: Mapping[str, Any], path: Path, digest: str, parent: str) -> None:
        names = {"step": manifest["step"], **manifest["key"]}
        key = "/".join(names.values())
        run = self._run(f"{self.experiment}: {key}", key, {"mlflow.parentRunId": parent})
        values, told = naming.metrics(manifest.get("metrics", {}))
        tags = {MANIFEST: digest, "vivavoce.digest": manifest["digest"], **told}
        tags |= self._artifacts(run, path, manifest)
        self._batch(run, values, {name: value for name, value in names.items() if value}, tags)
        for name, source in manifest["inputs"].items():
            self._dataset(run, name, source)
        self._store.set_terminated(run, "FINISHED")
        if manifest["step"] in ("aggregate", "table", "plot"):
            self._artifacts(parent, path, manifest)
            self._batch(parent, values, {}, {})

    def _artifacts(self, run: str, path: Path, manifest: Mapping[str, Any]) -> dict[str, str]:
        """Copy the step's files; one over the limit is named with its digest in a tag instead."""
        told = {}
        folder = path.parent
        for name in [path.name, *manifest.get("artifacts", [])]:
            file = folder / name
            if file.stat().st_size <= self._limit:
                self._store.log_artifact(run, str(file))
            else:
                told[f"vivavoce.not_copied.{naming.metric_name(name)}"] = f"{file} sha256 {sha256(file)}"
        return told

    def _batch(self, run: str, values: Mapping[str, float], params: Mapping[str, str], tags: Mapping[str, str]) -> None:
        from mlflow.entities import Metric, Param, RunTag

        known = self._store.get_run(run).data.params
        self._store.log_batch(
            run,
            metrics=[Metric(name, value, 0, 0) for name, value in values.items()],
            params=[Param(k, naming.text(v, naming.PARAM_LENGTH)) for k, v in params.items() if k not in known],
            tags=[RunTag(k, naming.text(v, naming.TAG_LENGTH)) for k, v in tags.items()],
        )

    def _dataset(self, run: str, name: str, digest: str) -> None:
        from mlflow.entities import Dataset, DatasetInput, InputTag

        data = Dataset(name=name, digest=digest[:36], source_type="vivavoce", source=json.dumps({"sha256": digest}))
        self._store.log_inputs(run, [DatasetInput(data, [InputTag("mlflow.data.context", "input")])])

    def _run(self, key: str, name: str, tags: Mapping[str, str]) -> str:
        """The id of the run with this key, created if there is none."""
        if key not in self._ids:
            experiment = experiment_id(self._store, self.uri, self.experiment)
            found = self._store.search_runs([experiment], f"tags.`{KEY}` = '{key}'", max_results=1)
            run = found[0] if found else self._store.create_run(experiment, run_name=name, tags={KEY: key, **tags})
            self._ids[key] = str(run.info.run_id)
        return self._ids[key]

    @property
    def _store(self) -> MlflowClient:
        if self._client is None:
            self._client = client(self.uri)
        return self._client
