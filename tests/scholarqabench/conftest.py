"""Entailment oracles, the loop that plays one, and where the pinned upstream files lie."""

from __future__ import annotations

import re
import string
from collections.abc import Callable
from pathlib import Path

import pytest

from vivavoce.metrics.citations.scoring import Asking

Oracle = Callable[[str, str], bool]


def _words(text: str) -> set[str]:
    bare = "".join(character for character in text.lower() if character not in string.punctuation)
    return set(re.sub(r"\b(a|an|the)\b", " ", bare).split())


def _lex50(passage: str, claim: str) -> bool:
    wanted = _words(claim)
    return bool(wanted) and len(wanted & _words(passage)) / len(wanted) >= 0.5


def _documents(passage: str) -> set[int]:
    return {int(number) for number in re.findall(r"DOC(\d+)", passage)}


@pytest.fixture(scope="session")
def oracles() -> dict[str, Oracle]:
    """The oracles of the golden files; `only_*` and `joint_*` read the marks DOC0, DOC1 ... of made-up passages."""
    return {
        "one": lambda passage, claim: True,
        "zero": lambda passage, claim: False,
        "lex50": _lex50,
        "only_if_doc0_present": lambda passage, claim: 0 in _documents(passage),
        "only_joint_0_and_1": lambda passage, claim: {0, 1} <= _documents(passage),
        "joint_only(>=2 docs)": lambda passage, claim: passage.count("DOC") >= 2,
    }


@pytest.fixture(scope="session")
def play():
    """Run a citation scorer against an oracle; returns its score."""

    def run(scorer: Asking, oracle: Oracle):
        try:
            batch = next(scorer)
            while True:
                batch = scorer.send([oracle(*pair) for pair in batch])
        except StopIteration as end:
            return end.value

    return run


@pytest.fixture(scope="session")
def data(mirror: Path) -> Path:
    """`data/` of ScholarQABench in the mirror."""
    folder = mirror / "raw.githubusercontent.com/AkariAsai/ScholarQABench/95e6fc52b0a8a0ce0a74956029991e3bb00c38b9/data"
    if not folder.is_dir():
        pytest.skip(f"no ScholarQABench data: {folder} is missing")
    return folder
