"""Judge tasks: every packaged file loads, and mistakes in a file are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from vivavoce.errors import ConfigError, DataError
from vivavoce.judges.fill import fill
from vivavoce.judges.lexical import decide
from vivavoce.judges.prompts import FOLDER, load_task
from vivavoce.metrics.verdicts import parse_verdict

NAMES = sorted(path.stem for path in FOLDER.glob("*.md"))
OURS = {
    "rubric_criterion": {"question": "q", "answer": "a", "criterion": "c"},
    "rubric_expertise": {"question": "q", "answer": "a"},
    "rubric_evidence": {"answer": "a", "snippets": ["s1", "s2"]},
    "rubric_claims": {"answer": "a"},
    "prometheus": {
        "instruction": "i", "question": "q", "answer": "a", "reference": "r", "criterion": "c",
        "descriptions": ["d1", "d2", "d3", "d4", "d5"],
    },
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_task_loads_and_its_written_verdicts_are_parsed(name: str) -> None:
    task = load_task(name)
    for share in (0.0, 1.0):
        value = fill(task, share)
        verdict = parse_verdict(task.write(value), task.verdict)
        assert not verdict.error
        if task.verdict.kind != "text":
            assert verdict.value == value


@pytest.mark.parametrize("name", sorted(OURS))
def test_own_tasks_show_all_their_fields_and_decide_offline(name: str) -> None:
    task = load_task(name)
    text = "\n".join(message.content for message in task.render(OURS[name] | {"ref": {"case_id": "SECRET"}}))
    assert "SECRET" not in text
    assert "{{" not in text  # no doubled braces reach the judge (R7)
    shown = [item for value in OURS[name].values() for item in (value if isinstance(value, list) else [value])]
    assert all(item in text for item in shown)
    assert not parse_verdict(task.write(decide(task, OURS[name])), task.verdict).error


def test_missing_field_is_named() -> None:
    with pytest.raises(DataError, match=r"rubric_criterion.*'criterion' is undefined"):
        load_task("rubric_criterion").render({"question": "q", "answer": "a"})


def test_identity_is_of_what_is_shown() -> None:
    task = load_task("rubric_claims")
    assert task.identity({"answer": "a", "ref": {"item": "1"}}) == task.identity({"answer": "a"})
    assert task.identity({"answer": "a"}) != task.identity({"answer": "b"})


def test_unknown_task_lists_the_known() -> None:
    with pytest.raises(ConfigError, match="rubric_claims"):
        load_task("no_such_task")


GOOD = (
    "---\nversion: 2\nverdict: {kind: label, labels: [a, b]}\nlexical: {rule: coverage, yes: a, no: b}\n---\n# user\n{{ x }}\n"
)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("no front matter", "front matter between"),
        (GOOD.replace("labels: [a, b]", "labels: [a]"), "two different labels"),
        (GOOD.replace("version: 2\n", ""), "version"),
        (GOOD.replace("{{ x }}", "{{ x "), "line"),
        (GOOD.replace("kind: label", "kind: guess"), "guess"),
    ],
)
def test_malformed_file_is_named(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "t.md").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=reason):
        load_task("t", None, tmp_path)


def test_versions_are_pinned_and_older_ones_kept(tmp_path: Path) -> None:
    (tmp_path / "t.md").write_text(GOOD, encoding="utf-8")
    (tmp_path / "t.v1.md").write_text(
        GOOD.replace("version: 2", "version: 1").replace("{{ x }}", "old {{ x }}"), encoding="utf-8"
    )
    assert load_task("t", None, tmp_path).version == 2
    assert load_task("t", 1, tmp_path).render({"x": "y"})[0].content == "old y"
    assert load_task("t", 2, tmp_path).lexical == {"rule": "coverage", "yes": "a", "no": "b"}  # yes and no are not booleans
    with pytest.raises(ConfigError, match="version 3"):
        load_task("t", 3, tmp_path)
    assert load_task(str(tmp_path / "t.md")).version == 2
