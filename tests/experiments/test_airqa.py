"""AirQA-Real's experiments: imported trajectories are counted right, impossible published cells are named, PDFs are fetched."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from vivavoce.config.compose import compose, freeze
from vivavoce.config.corpus import CorpusConfig
from vivavoce.files import sha256
from vivavoce.plan import Plan
from vivavoce.tables.grid import build


def say(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": content}


SQL = '[Thought]: Look.\n[Action]: RetrieveFromDatabase(sql="SELECT title FROM metadata")'
FIRST = [
    say("system", "You answer questions about papers."),
    say("user", "[Question]: which one?"),
    say("assistant", SQL),
    say("user", "[Observation]: some titles"),
    say("assistant", '[Thought]: Hm.\n[Action]: LookHarder(at="it")'),
    say("user", "[Observation]: [Error]: no such action"),
    say("assistant", '[Thought]: Done.\n[Action]: GenerateAnswer(answer="an answer")'),
    say("user", "an answer"),
]
SECOND = [*FIRST[:2], *FIRST[2:4] * 4]  # the same action four times, and no answer


@pytest.mark.workflow
def test_imported_trajectories_are_counted_turn_by_turn(root: Path, tmp_path: Path) -> None:
    lines = (root / "specimen/questions/airqa.jsonl").read_text("utf-8").splitlines()[:2]
    runs = [{"id": json.loads(line)["uuid"], "messages": run} for line, run in zip(lines, (FIRST, SECOND), strict=True)]
    folder = tmp_path / "predictions" / "specimen_airqa"
    folder.mkdir(parents=True)
    (folder / "theirs.jsonl").write_text("".join(json.dumps(run) + "\n" for run in runs))
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "--snakefile", str(root / "Snakefile")]
    command += ["--directory", str(tmp_path), "--config", "experiment=specimen_agents", "agent=predictions", "limit=2"]
    run = subprocess.run([*command, "tracking=none"], capture_output=True, text=True, timeout=300, check=False)
    assert run.returncode == 0, run.stderr
    with (tmp_path / "results/experiments/specimen_agents/measures.csv").open(newline="") as stream:
        cells = {
            line["measure"]: line
            for line in csv.DictReader(stream)
            if (line["slice"], line["profile"], line["policy"], line["model"])
            == ("all", "corrected", "failures_wrong", "theirs")
        }
    assert float(cells["turns"]["value"]) == pytest.approx((3 + 4) / 2)
    assert float(cells["error_actions"]["value"]) == pytest.approx((1 / 3 + 0) / 2)
    assert float(cells["longest_repeat"]["value"]) == pytest.approx((1 + 4) / 2)
    assert float(cells["stuck"]["value"]) == pytest.approx(0.5)
    assert float(cells["valid"]["value"]) == pytest.approx(0.5)
    assert (cells["valid"]["n_answered"], cells["valid"]["n_limit"]) == ("1", "1")
    assert not cells["within_cap"]["value"]  # the cap of an imported run is not known


def test_impossible_published_cells_are_named(root: Path) -> None:
    config = compose(root / "conf", {"experiment": "airqa_real", "tracking": "none"})
    notes = {name: "\n".join(build(table, [], {}).notes) for name, table in config.table.items()}
    assert "GPT-4V · Classic-RAG, Avg: no whole count over 553 gives 14.7 %" in notes["airqa_real"]
    assert "Llama-3.3-70B-Instruct · Classic-RAG, Avg: no whole count over 553 gives 10.0 %" in notes["airqa_real"]
    assert "NeuSym-RAG, Avg: single, multiple, retrieval weigh to 42.6 %, not 39.6 %" in notes["airqa_real_kinds"]
    assert "NeuSym-RAG, multiple: no whole count over 150 gives 32.3 %" in notes["airqa_real_kinds"]


@pytest.mark.parametrize(
    "name", ["airqa_real", "airqa_real_pdfs", "airqa_ablation", "airqa_retrieval", "m3sciqa", "specimen_agents"]
)
def test_experiments_plan(root: Path, name: str) -> None:
    config = compose(root / "conf", {"experiment": name, "tracking": "none"})
    plan = Plan(config, root)
    assert plan.jobs
    assert {name for table in config.table.values() for name in table.benchmarks} == set(config.benchmark)
    for table in config.table.values():
        assert build(table, [], {}).columns


@pytest.fixture
def publisher(root: Path) -> Iterator[ThreadingHTTPServer]:
    class Handler(SimpleHTTPRequestHandler):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args, directory=str(root / "specimen" / "pdfs"))

        def log_request(self, code: Any = "-", size: Any = "-") -> None:
            asked.append(self.path)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
            pass

    asked: list[str] = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.asked = asked  # type: ignore[attr-defined]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()


def test_ingestion_fetches_what_the_catalogue_names(root: Path, tmp_path: Path, publisher: Any) -> None:
    known = json.loads((root / "specimen/papers.json").read_text("utf-8"))[:2]
    papers = [
        {"id": paper["id"], "title": paper["title"], "pdf_url": f"http://127.0.0.1:{publisher.server_port}/{paper['id']}.pdf"}
        for paper in known
    ]
    papers.append({"title": "Gone", "pdf_url": f"http://127.0.0.1:{publisher.server_port}/gone.pdf"})
    catalogue = tmp_path / "papers.json"
    catalogue.write_text(json.dumps(papers))
    asset = {"path": str(catalogue), "sha256": sha256(catalogue), "licence": "invented"}

    def ingest(share: float) -> subprocess.CompletedProcess[str]:
        corpus = CorpusConfig.model_validate(
            {
                "name": "local",
                "source": "pdfs",
                "assets": {"catalogue": asset},
                "download": {"delay_seconds": 0, "error_share": share},
                "index": {"lexical": ("metadata.title",), "embedding": ()},
            }
        )
        config = compose(root / "conf", {"experiment": "specimen_agents", "tracking": "none"})
        freeze(config.model_copy(update={"corpus": {"local": corpus}}), tmp_path / "config.yaml")
        command = [sys.executable, str(root / "scripts/ingest.py"), "--config", "config.yaml", "--corpus", "local"]
        command += ["--output", "results/corpora/local/papers.duckdb"]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)

    strict = ingest(0.0)
    assert strict.returncode == 1
    assert "1 of 3 PDFs could not be fetched (the server answered 404)" in strict.stderr
    publisher.asked.clear()
    run = ingest(0.5)
    assert run.returncode == 0, run.stderr
    assert publisher.asked == ["/gone.pdf"]  # what was fetched is kept
    manifest = json.loads((tmp_path / "results/corpora/local/manifest.json").read_text())
    assert (manifest["papers"], manifest["skipped_counts"]) == (2, {"missing": 1})


def test_pdfs_have_one_source() -> None:
    for wrong in ({"source": "catalogue"}, {"source": "pdfs", "pdfs": "pdfs"}, {"source": "pdfs"}):
        with pytest.raises(ValidationError, match="download needs"):
            CorpusConfig.model_validate({"name": "c", "download": True, **wrong})
