"""Papers -> a corpus folder: `papers.duckdb`, `index/`, `pdfs/`, `manifest.json`."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from vivavoce.config.corpus import CorpusConfig
from vivavoce.corpus.catalogue import Entry, read_catalogue
from vivavoce.corpus.database import PRIMARY_KEYS, Rows, connect_read_only, fingerprint, write_database
from vivavoce.corpus.embed import WIDTH, MiniLM
from vivavoce.corpus.index import Index, Row, open_index
from vivavoce.corpus.manifest import VERSION, skipped_counts, versions, write_manifest
from vivavoce.corpus.memo import Memo
from vivavoce.corpus.parse import Parsing, rows_of
from vivavoce.corpus.parsing import parse_all
from vivavoce.errors import ConfigError, DataError
from vivavoce.files import digest

Progress = Callable[[str, int, int], None]
_PARTS = ("manifest.json", "papers.duckdb", "index", "pdfs")
_BLOCK = 4096  # texts embedded at a time


def ingest(
    config: CorpusConfig,
    inputs: Mapping[str, Path],
    folder: Path,
    *,
    cache: Path | None = None,
    processes: int = 2,
    threads: int = 2,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Make the corpus in `folder` and return its manifest.

    `inputs`: `catalogue` (see `read_catalogue`) and, for source `pdfs`, `pdfs` (a folder of *.pdf, or one file). `cache` (by
    default `.cache` beside `folder`) keeps parsed PDFs and embeddings by content, so that a killed ingest goes on and a
    second one is quick. `processes` parse PDFs and `threads` embed; neither changes the result. `progress(step, done, total)`
    is told how far it is. A PDF that cannot be read is skipped and named in the manifest. DataError if inputs are missing or
    no paper is left.
    """
    cache = cache or folder.parent / ".cache"
    building = folder / ".building"
    shutil.rmtree(building, ignore_errors=True)
    building.mkdir(parents=True)
    entries = read_catalogue(inputs["catalogue"]) if "catalogue" in inputs else []
    skipped: list[dict[str, str]] = []
    digests: dict[str, str] = {}
    if config.source == "catalogue":
        _need(config, inputs, "catalogue")
        papers: Iterator[Rows] = (rows_of(None, entry, "", _parsing(config)) for entry in entries)
    else:
        _need(config, inputs, "pdfs")
        papers = _papers(config, inputs["pdfs"], entries, building, cache, processes, skipped, digests, progress)
    counts = write_database(building / "papers.duckdb", papers)
    if not counts["metadata"]:
        reasons = ", ".join(f"{n} {reason}" for reason, n in skipped_counts(skipped).items()) or "no input files"
        shutil.rmtree(building)
        raise DataError(f"{folder}: no paper could be ingested ({reasons}). Look at the PDFs in {inputs.get('pdfs', inputs)}.")
    index = _build_index(config, building, cache, threads, progress)
    manifest = {
        "version": VERSION,
        "name": config.name,
        "source": config.source,
        "papers": counts["metadata"],
        "rows": counts,
        "skipped": sorted(skipped, key=lambda item: (item["name"], item["reason"])),
        "skipped_counts": skipped_counts(skipped),
        "inputs": {
            "catalogue": {"entries": len(entries), "sha256": digest(msgspec.to_builtins(entries))},
            "pdfs": {"files": len(digests), "sha256": digest(digests)},
        },
        # What the papers come from is named by the digests above.
        "config": digest(config.model_dump(mode="json", exclude={"assets", "pdfs", "download"})),
        "index": index,
        "content": fingerprint(building / "papers.duckdb"),
        "versions": versions(),
    }
    _publish(building, folder)
    write_manifest(folder, manifest)
    return manifest


def _need(config: CorpusConfig, inputs: Mapping[str, Path], name: str) -> None:
    path = inputs.get(name)
    if path is None or not path.exists():
        raise DataError(f"corpus {config.name}: source {config.source!r} needs {name!r}: {path or 'not given'} does not exist.")


def _parsing(config: CorpusConfig) -> Parsing:
    return Parsing(unit=config.chunks.unit, size=config.chunks.size, overlap=config.chunks.overlap, text_cap=config.text_cap)


def _papers(
    config: CorpusConfig,
    source: Path,
    entries: list[Entry],
    building: Path,
    cache: Path,
    processes: int,
    skipped: list[dict[str, str]],
    digests: dict[str, str],
    progress: Progress | None,
) -> Iterator[Rows]:
    """The rows of each readable PDF; fills `skipped` and `digests` (file name -> sha256) on the way, and copies PDFs."""
    pdfs = sorted(source.rglob("*.pdf")) if source.is_dir() else [source]
    by_name = {entry.pdf: entry for entry in entries if entry.pdf} | {f"{entry.id}.pdf": entry for entry in entries}
    names = {path: path.relative_to(source).as_posix() if source.is_dir() else path.name for path in pdfs}
    known: dict[str, str] = {}  # paper id -> file name
    (building / "pdfs").mkdir()
    parsing = _parsing(config)
    found = parse_all(pdfs, parsing, cache, processes=processes, seconds=config.seconds_per_pdf, progress=progress)
    for path, sha, outcome in found:
        name = names[path]
        digests[name] = sha
        if outcome.paper is None:
            skipped.append({"name": name, "reason": outcome.reason})
            continue
        entry = by_name.get(path.name)
        if entry is None and not outcome.paper.title:
            skipped.append({"name": name, "reason": "untitled: no catalogue entry, and no title on its first page"})
            continue
        rows = rows_of(outcome.paper, entry, "", parsing)
        identity = rows["metadata"][0]["paper_id"]
        if identity in known:
            skipped.append({"name": name, "reason": f"duplicate: the same paper as {known[identity]}"})
            continue
        known[identity] = name
        rows["metadata"][0]["pdf_path"] = f"pdfs/{identity}.pdf"
        shutil.copyfile(path, building / "pdfs" / f"{identity}.pdf")
        yield rows
    held = {names[path].rsplit("/", 1)[-1] for path in pdfs}
    for entry in entries:
        if not held & {entry.pdf, f"{entry.id}.pdf"}:
            skipped.append(
                {"name": f"{entry.id} ({entry.title})", "reason": "missing: the catalogue names it, but there is no PDF"}
            )


def _build_index(config: CorpusConfig, building: Path, cache: Path, threads: int, progress: Progress | None) -> dict[str, Any]:
    """Index the columns that the configuration names; returns what the manifest says of it."""
    settings = config.index
    for name in (*settings.lexical, *settings.embedding):
        if name.split(".")[0] not in PRIMARY_KEYS:
            raise ConfigError(
                f"conf/corpus/{config.name}.yaml: index: {name!r}: no such table. Tables: {', '.join(PRIMARY_KEYS)}."
            )
    tables = ("metadata",) if config.source == "catalogue" else tuple(PRIMARY_KEYS)
    lexical = [name for name in sorted({*settings.lexical, *settings.embedding}) if name.split(".")[0] in tables]
    embedding = [name for name in sorted(set(settings.embedding)) if name.split(".")[0] in tables]
    uri = settings.uri and f"{settings.uri}-{config.name}".lower()
    index: Index = open_index(uri, building / "index")
    model = MiniLM(max_tokens=settings.max_tokens, threads=threads, memo=Memo(cache / "embeddings"))
    for name in lexical:
        vectors = _vectors(building, name, model, progress) if name in embedding else None
        index.write(name, _rows(building / "papers.duckdb", name), vectors)
    (building / "vectors.part").unlink(missing_ok=True)
    return {"uri": uri, "lexical": lexical, "embedding": embedding, "max_tokens": settings.max_tokens}


def _vectors(building: Path, name: str, model: MiniLM, progress: Progress | None) -> Any:
    database = building / "papers.duckdb"
    total = sum(1 for _ in _rows(database, name))
    if not total:
        return np.zeros((0, WIDTH), dtype=np.float32)
    vectors = np.lib.format.open_memmap(building / "vectors.part", mode="w+", dtype=np.float32, shape=(total, WIDTH))
    block: list[str] = []
    done = 0

    def told(_step: str, now: int, _total: int) -> None:
        if progress:
            progress(f"embed {name}", done + now, total)

    for row in _rows(database, name):
        block.append(row.text)
        if len(block) == _BLOCK or done + len(block) == total:
            vectors[done : done + len(block)] = model.embed(block, told)
            done += len(block)
            block = []
    return vectors


def _rows(database: Path, name: str) -> Iterator[Row]:
    """The rows of a collection that hold text, sorted by paper and ordinal."""
    table, _, column = name.partition(".")
    text = "concat_ws('\n\n', t.title, t.abstract)" if name == "metadata.title_abstract" else f"t.{column}"
    paper, order, page, join = "t.ref_paper_id", "t.ordinal", "p.page_number", "LEFT JOIN pages p ON p.page_id = t.ref_page_id"
    if table == "metadata":
        paper, order, page, join = "t.paper_id", "t.paper_id", "NULL", ""
    elif table == "pages":
        order, page, join = "t.page_number", "t.page_number", ""
    elif table == "sections":
        page, join = "t.page_numbers[1]", ""
    # The names come from the constants of the schema and from configuration, checked by DuckDB; nothing of a paper or a model
    # is in them.
    sql = (
        f"SELECT t.{PRIMARY_KEYS[table]}::VARCHAR, {paper}::VARCHAR, {page}, {text} FROM {table} t {join} "  # noqa: S608
        f"WHERE trim({text}) <> '' ORDER BY {paper}::VARCHAR, {order}"
    )
    import duckdb

    with connect_read_only(database, threads=1) as connection:
        try:
            cursor = connection.execute(sql)
        except duckdb.Error as error:
            raise ConfigError(f"index: {name!r} is no text column of the corpus: {error}") from None
        while batch := cursor.fetchmany(2000):
            for key, identity, where, content in batch:
                yield Row(key=key, paper=identity, page=where, text=content)


def _publish(building: Path, folder: Path) -> None:
    """Put the finished parts in the place of old ones; the manifest goes first and comes last."""
    for part in _PARTS:
        old = folder / part
        if old.is_dir():
            shutil.rmtree(old)
        else:
            old.unlink(missing_ok=True)
        if (building / part).exists():
            (building / part).replace(old)
    shutil.rmtree(building)
