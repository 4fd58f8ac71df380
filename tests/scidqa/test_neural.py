"""The neural extra says in one line what is missing; with stand-ins for the packages it passes the published settings."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest

from vivavoce.errors import ConfigError
from vivavoce.metrics.neural import BLEURT, BERTScore, BERTScorer


@pytest.mark.parametrize(("kind", "package"), [(BERTScorer, "bert_score"), (BLEURT, "bleurt_pytorch")])
def test_a_missing_package_is_one_line(monkeypatch: pytest.MonkeyPatch, kind: Any, package: str) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ConfigError, match=r"install the extra: pip install 'vivavoce\[neural\]'") as error:
        kind()
    assert "\n" not in str(error.value)


def test_missing_weights_are_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**_: Any) -> None:
        raise OSError("cannot reach the hub\nand more\nlines")

    monkeypatch.setitem(sys.modules, "bert_score", module(BERTScorer=fail))
    with pytest.raises(ConfigError, match=r"no weights of microsoft/deberta-xlarge-mnli \(cannot reach the hub\)") as error:
        BERTScorer()
    assert "\n" not in str(error.value)


def test_bertscore_gets_the_published_settings_and_the_order_of_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, Any] = {}

    class Scorer:
        def __init__(self, **settings: Any) -> None:
            seen.update(settings)

        def score(self, candidates: list[str], references: list[str]) -> tuple[list[float], list[float], list[float]]:
            seen.update(candidates=candidates, references=references)
            return [0.1], [0.2], [0.3]

    monkeypatch.setitem(sys.modules, "bert_score", module(BERTScorer=Scorer))
    assert BERTScorer().score(["gold"], ["answer"]) == [BERTScore(0.1, 0.2, 0.3)]
    assert seen["model_type"] == "microsoft/deberta-xlarge-mnli"
    assert (seen["idf"], seen["rescale_with_baseline"], seen["batch_size"]) == (False, False, 1)
    assert (seen["candidates"], seen["references"]) == (["answer"], ["gold"])


def module(**names: Any) -> ModuleType:
    made = ModuleType("stand_in")
    made.__dict__.update(names)
    return made
