"""What the pages say is there: links, files, configuration blocks, experiments, packages, divergences."""

from __future__ import annotations

import importlib
import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from vivavoce.config.agent import AgentConfig
from vivavoce.config.benchmark import Asset, BenchmarkConfig
from vivavoce.config.compose import compose, freeze, names
from vivavoce.config.corpus import CorpusConfig
from vivavoce.config.judge import JudgeConfig
from vivavoce.config.model import ModelConfig
from vivavoce.config.table import Check, TableConfig

GROUPS: dict[str, Any] = {
    "agent": AgentConfig,
    "benchmark": BenchmarkConfig,
    "corpus": CorpusConfig,
    "judge": JudgeConfig,
    "model": ModelConfig,
    "table": TableConfig,
}
COMMIT = re.compile(r"@`?([0-9a-f]{8,40})\b")


def slug(heading: str) -> str:
    """The anchor that GitHub gives a heading."""
    text = re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def prose(path: Path) -> str:
    return re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def test_links_lead_somewhere(document: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(document)):
        if re.match(r"https?://|mailto:", target):
            continue
        name, _, anchor = target.partition("#")
        path = (document.parent / name).resolve() if name else document
        assert path.exists(), f"{document.name}: {target}"
        if anchor:
            headings = re.findall(r"^#+ (.+)$", prose(path), re.MULTILINE)
            assert anchor in {slug(item) for item in headings}, f"{document.name}: {target}"


def test_named_files_exist(root: Path, document: Path) -> None:
    places = r"(?:src|conf|docs|scripts|tests|benchmarks|profiles|envs|specimen)/"
    for name in set(re.findall(rf"`({places}[\w./-]+)`", prose(document))) - {"conf/model/mine.yaml"}:  # the reader's own
        assert (root / name).exists(), f"{document.name}: {name}"


def test_pages_that_code_names_exist(root: Path) -> None:
    places = [path for folder in ("src", "conf", "scripts", "specimen", "benchmarks") for path in (root / folder).rglob("*")]
    found = 0
    for path in [*places, root / "Snakefile", root / "Makefile"]:
        if path.suffix in (".py", ".yaml", "") and path.is_file():
            for name in re.findall(r"\bdocs/[\w/]+\.md\b", path.read_text(encoding="utf-8")):
                found += 1
                assert (root / name).is_file(), f"{path.relative_to(root)}: {name}"
    assert found


def test_named_code_can_be_found(document: Path) -> None:
    for name in re.findall(r"`(vivavoce(?:\.\w+)+(?::\w+)?)`", prose(document)):
        module, _, item = name.partition(":")
        try:
            found: Any = importlib.import_module(module)
        except ModuleNotFoundError:
            parent, _, last = module.rpartition(".")
            found = getattr(importlib.import_module(parent), last, None)
        assert found, f"{document.name}: {name}"
        assert not item or hasattr(found, item), f"{document.name}: {name}"


def test_yaml_blocks_are_what_the_program_takes(yaml_block: Any) -> None:
    marks, text = yaml_block.marks, yaml_block.text
    values = yaml.safe_load(text)
    if "asset" in marks:
        Asset(**values)
        return
    if "checks" in marks:
        assert [Check(**item).run for item in values["checks"]]
        return
    if "experiment" in (group := _group(marks)):
        return  # composed by test_extending
    package = re.match(r"# @package (\w+)\.(\w+)\n", text)
    assert package, f"{yaml_block.where}: the first line must be '# @package {group}.<name>'"
    assert package[1] == group
    if "file" in marks:
        assert package[2] == Path(marks["file"]).stem
    if group == "model":
        ModelConfig.parse(package[2], values)
    else:
        GROUPS[group].model_validate_json(yaml_json({**values, "name": package[2]}))


def yaml_json(values: dict[str, Any]) -> str:
    import json

    return json.dumps(values)


def _group(marks: dict[str, str]) -> str:
    if "file" in marks:
        return Path(marks["file"]).parts[1]
    (group,) = marks
    return group


def test_readme_lists_every_experiment_and_no_other(root: Path) -> None:
    section = (root / "README.md").read_text().partition("## Experiments")[2].partition("\n## ")[0]
    listed = re.findall(r"^\| `(\w+)`", section, re.MULTILINE)
    assert sorted(listed) == names(root / "conf", "experiment")


def test_architecture_lists_every_package(root: Path) -> None:
    text = (root / "docs" / "architecture.md").read_text()
    listed = set(re.findall(r"`(\w+)/?`", "".join(re.findall(r"^\| (.*?) \|", text, re.MULTILINE))))
    source = root / "src" / "vivavoce"
    there = {path.stem for path in source.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()}
    assert there - {"__init__"} <= listed, sorted(there - listed)
    assert listed <= there, sorted(listed - there)


def test_agents_and_judges_are_described(root: Path) -> None:
    for group, page in (("agent", "agents.md"), ("judge", "models.md")):
        text = (root / "docs" / page).read_text()
        missing = [name for name in names(root / "conf", group) if f"`{name}`" not in text]
        assert missing == [], f"docs/{page} does not name them"


def rows(path: Path) -> list[tuple[str, list[str]]]:
    """(heading above, cells) of every table row that is no header."""
    found, heading, above = [], "", ""
    for line in path.read_text().splitlines():
        if line.startswith("#"):
            heading = line.lstrip("# ")
        if line.startswith("|"):
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]
            if above.startswith("|") and not set(line) <= set("|-: "):
                found.append((heading, cells))
        above = line
    return found


def test_every_divergence_names_its_place(root: Path) -> None:
    page = root / "docs" / "divergences.md"
    found = [(heading, cells) for heading, cells in rows(page) if re.fullmatch(r"[A-Z]+\d+\w?", cells[0])]
    assert len(found) > 80
    identities = [(heading, cells[0]) for heading, cells in found]
    assert len(identities) == len(set(identities)), "an id stands twice in a section"
    for heading, cells in found:
        assert len(cells) == 6, cells[0]
        place = cells[1]
        assert re.search(r"\w+\.(py|jsonl?|xlsx|md|txt|sh)\b", place), f"{cells[0]} ({heading}): no upstream file in {place!r}"
        assert cells[3] and cells[4], f"{cells[0]}: what is done here?"
    for heading in {heading for heading, _ in found}:
        text = page.read_text().partition(f"## {heading}\n")[2].partition("\n|")[0]
        assert COMMIT.search(text), f"section {heading} names no upstream commit"


def test_quoted_tables_are_those_of_the_last_run(root: Path, tmp_path: Path) -> None:
    """After `make demo` (which CI runs first): the numbers in README are those that this code prints."""
    quote = _quote(root)
    made = [path for path in sorted((root / "results" / "experiments").glob("*")) if _as_it_comes(path, root, tmp_path)]
    sources = {str(table.relative_to(root)) for path in made for table in path.glob("tables/*.md")}
    checked = 0
    for page in (root / "README.md", *sorted((root / "docs").glob("*.md"))):
        stale, fresh = quote.differences(page, root, sources)
        assert stale == [], f"{page.name}: run python docs/quote.py"
        checked += fresh
    if not checked:
        pytest.skip("no table of an experiment as it comes lies in results/: make demo makes those of the specimen")


def test_a_stale_quotation_is_noticed(root: Path, tmp_path: Path) -> None:
    quote = _quote(root)
    table = "|   | a (n=2) |  b |\n| - | ------: | -: |\n| x | 1.0 [0.5, 1.5] | 2 |\n| y | 3 | 4 |\n"
    (tmp_path / "t.md").write_text(table)
    page = tmp_path / "page.md"
    for text, expected in (
        ("| a (n=2) |\n| ------: |\n|     1.0 |\n", []),
        ("| a (n=2) |\n| ------: |\n|     1.1 |\n", ["t.md"]),
    ):
        page.write_text(f"<!-- quote t.md rows=x columns=a plain -->\n{text}<!-- end -->\n")
        assert quote.differences(page, tmp_path, {"t.md"})[0] == expected


def _quote(root: Path) -> Any:
    spec = importlib.util.spec_from_file_location("quote", root / "docs" / "quote.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _as_it_comes(results: Path, root: Path, tmp_path: Path) -> bool:
    """Whether an experiment was last run without another limit, model or judge."""
    if results.name not in names(root / "conf", "experiment") or not (results / "config.yaml").is_file():
        return False
    freeze(compose(root / "conf", {"experiment": results.name}), tmp_path / "config.yaml")
    return (tmp_path / "config.yaml").read_text() == (results / "config.yaml").read_text()


def test_citation_file_names_the_version(root: Path) -> None:
    import tomllib

    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    citation = yaml.safe_load((root / "CITATION.cff").read_text())
    for key in ("cff-version", "message", "title", "authors", "version", "date-released", "license"):
        assert citation[key], key
    assert citation["version"] == project["version"]
    assert citation["license"] == project["license"]
    assert re.search(
        rf"^## \[{re.escape(project['version'])}\] - {citation['date-released']}$",
        (root / "CHANGELOG.md").read_text(),
        re.MULTILINE,
    )


def test_pre_commit_runs_what_make_check_runs(root: Path) -> None:
    (repository,) = yaml.safe_load((root / ".pre-commit-config.yaml").read_text())["repos"]
    assert repository["repo"] == "local"
    hooks = [hook["entry"] for hook in repository["hooks"]]
    makefile = (root / "Makefile").read_text()
    for tool in ("ruff check", "ruff format", "snakefmt", "mypy"):
        assert any(hook.endswith(tool) or f"{tool} " in hook for hook in hooks), tool
        assert f"$(ENV)/{tool}" in makefile
