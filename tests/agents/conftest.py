"""The small corpus that tests of agents run on."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest


def _module() -> Any:
    spec = importlib.util.spec_from_file_location("fake_library", Path(__file__).parents[1] / "tools" / "fake_library.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def corpus_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "papers.duckdb"
    _module().write(path)
    return path


@pytest.fixture
def library(corpus_file: Path) -> Any:
    return _module().FakeLibrary(corpus_file)
