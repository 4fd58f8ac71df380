"""Judges that make no call: token overlap, constants, recorded replies."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vivavoce.errors import ConfigError, DataError
from vivavoce.judges.constant import ConstantJudge, NoJudge
from vivavoce.judges.lexical import LexicalJudge, claims, decide
from vivavoce.judges.prompts import Task, load_task
from vivavoce.judges.recorded import RecordedJudge, RecordingJudge, load_replies
from vivavoce.metrics.overlap import content_tokens, coverage, f1
from vivavoce.metrics.verdicts import VerdictSpec
from vivavoce.records import JudgeRequest

REF = {"agent": "predictions", "model": "nora", "case_id": "c1", "item": "claims"}
CLAIMS = JudgeRequest(task="rubric_claims", fields={"answer": "Cats sleep a lot [1].", "ref": REF})


def task(lexical: dict[str, Any], **verdict: Any) -> Task:
    spec = VerdictSpec(**({"kind": "boolean"} | verdict))
    return Task(name="t", version=1, verdict=spec, lexical=lexical, form="", system="", user="")


@pytest.mark.parametrize(
    ("rule", "fields", "value"),
    [
        ({"threshold": 0.5}, {"of": "red fox jumps", "in": "The red fox sleeps"}, True),
        ({"threshold": 0.9}, {"of": "red fox jumps", "in": "The red fox sleeps"}, False),
        ({}, {"of": ["red fox", "blue whale"], "in": "a red fox"}, False),
        ({"need": "any"}, {"of": ["red fox", "blue whale"], "in": "a red fox"}, True),
        ({"need": "wanted"}, {"of": ["red fox", "blue whale"], "in": "a red fox", "wanted": 1}, True),
        ({}, {"of": ["red fox", "blue whale"], "in": "a red fox", "count": 1}, True),
        ({}, {"of": [], "in": "a red fox"}, False),
        ({}, {"of": "", "in": "a red fox"}, False),
    ],
)
def test_coverage_rule(rule: dict[str, Any], fields: dict[str, Any], value: bool) -> None:
    assert decide(task({"rule": "coverage", "of": "of", "in": "in"} | rule), fields) is value


def test_scale_count_and_labels() -> None:
    scale = task({"rule": "scale", "of": "r", "in": "a"}, kind="integer", low=1, high=5)
    assert [decide(scale, {"r": "one two three four", "a": text}) for text in ("", "one two", "four three two one")] == [
        1,
        3,
        5,
    ]
    count = load_task("rubric_evidence")
    assert decide(count, {"snippets": ["red fox", "blue whale", "red wine"], "answer": "red foxes; a red fox"}) == {"score": 2}
    label = task({"rule": "coverage", "of": "r", "in": "a", "yes": "up", "no": "down"}, kind="label", labels=("down", "up"))
    assert decide(label, {"r": "x9", "a": "x9"}) == "up"
    with pytest.raises(ConfigError, match="expected coverage"):
        decide(task({"rule": "magic"}), {})
    with pytest.raises(DataError, match="reads 'r'"):
        decide(scale, {"a": "x"})


def test_claims_rule_takes_citations_and_quotations() -> None:
    found = claims(
        "Cats sleep up to sixteen hours a day [1, 2]. Dogs, as one study says, \"rest far less than their feline friends do\" "
        "(Meyer et al., 2020). Nobody has counted the naps of fish.\n\nReferences:\n[1] Smith 2019. Cats.\n[2] Doe 2018. Naps."
    )  # fmt: skip
    cited = [[citation["citation_text"] for citation in claim["citations"]] for claim in found]
    assert cited == [["[1, 2]"], ["(Meyer et al., 2020)"], []]
    assert found[1]["citations"][0]["excerpts"] == ["rest far less than their feline friends do"]


@given(st.text(max_size=80), st.text(max_size=80))
def test_overlap_is_a_share(one: str, two: str) -> None:
    assert 0 <= coverage(one, two) <= 1
    assert f1(one, two) == f1(two, one)
    assert coverage(one, one) == (1 if content_tokens(one) else 0)


async def test_constants_are_best_and_worst() -> None:
    yes, no = ConstantJudge(None, {"say": "yes"}), ConstantJudge(None, {"say": False})
    request = JudgeRequest(task="entailment", fields={"passage": "p", "claim": "c"})
    assert [(await judge.ask(request)).verdict for judge in (yes, no)] == ["supported", "unrelated"]
    assert (await NoJudge().ask(request)).error == "no judge is configured (judge=none)"
    with pytest.raises(ConfigError, match="yes or no"):
        ConstantJudge(None, {"say": "perhaps"})


async def test_lexical_never_judges_an_empty_answer() -> None:
    reply = await LexicalJudge().ask(JudgeRequest(task="rubric_claims", fields={"answer": " "}))
    assert (reply.verdict, reply.error) == (None, "empty answer: nothing was judged")


async def test_recording_and_replaying(tmp_path: Path) -> None:
    recorder = RecordingJudge(LexicalJudge())
    first = await recorder.ask(CLAIMS)
    path = tmp_path / "calls.jsonl"
    assert recorder.write(path) == 1
    packed = tmp_path / "calls.jsonl.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    for source in (path, packed):
        again = await RecordedJudge(None, {"path": str(source)}).ask(CLAIMS)
        assert (again.text, again.verdict) == (first.text, first.verdict)
    other = JudgeRequest(task="rubric_claims", fields={"answer": "Another answer."})
    missed = await RecordedJudge(None, {"path": str(path)}).ask(other)
    assert "no recorded reply for task rubric_claims version 1" in missed.error
    with pytest.raises(DataError, match="no recorded reply"):
        await RecordedJudge(None, {"path": str(path), "on_miss": "stop"}).ask(other)


async def test_replies_by_system_case_and_item(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    line = {"system": "nora", "case_id": "c1", "item": "claims", "model": "gpt", "reply": '{"claims": []}'}
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")
    assert (await RecordedJudge(None, {"path": str(path)}).ask(CLAIMS)).verdict == {"claims": []}
    other = JudgeRequest(task="rubric_claims", fields={"answer": "a", "ref": REF | {"model": "Nora v2"}})
    assert "system Nora v2, case c1, item claims" in (await RecordedJudge(None, {"path": str(path)}).ask(other)).error
    named = RecordedJudge(None, {"path": str(path), "systems": {"Nora v2": "nora"}})
    assert (await named.ask(other)).verdict == {"claims": []}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("not json", r"r\.jsonl:1: not a recorded reply"),
        ('{"reply": "x"}', "neither a key"),
        ('{"key": "k", "reply": "x"}\n{"key": "k", "reply": "y"}', r":2: k stands twice"),
        ('{"key": "k", "reply": "x", "extra": 1}', "extra"),
    ],
)
def test_malformed_recordings_are_named(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=reason):
        load_replies(path)


def test_missing_recording_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        RecordedJudge(None, {"path": str(tmp_path / "no.jsonl")})
    with pytest.raises(ConfigError, match="expected path"):
        RecordedJudge(None, {})
