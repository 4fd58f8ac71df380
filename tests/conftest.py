"""Where tests find upstream material; without it they skip and say so."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent
settings.register_profile("vivavoce", deadline=None)  # a busy machine is no failure
settings.load_profile("vivavoce")


@pytest.fixture(scope="session")
def root() -> Path:
    """The project's top folder."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of golden cases and published numbers."""
    folder = Path(os.environ.get("VIVAVOCE_SHARED", ROOT.parent / "shared"))
    if not folder.is_dir():
        pytest.skip(f"no golden material: {folder} is missing (set VIVAVOCE_SHARED)")
    return folder


@pytest.fixture(scope="session")
def mirror() -> Path:
    """The mirror of pinned upstream data."""
    folder = Path(os.environ.get("VIVAVOCE_MIRROR", ROOT.parent / "shared" / "mirror"))
    if not folder.is_dir():
        pytest.skip(f"no upstream data: neither VIVAVOCE_MIRROR nor {folder} exists")
    return folder


def _fake() -> Any:
    spec = importlib.util.spec_from_file_location("fake_library", ROOT / "tests" / "tools" / "fake_library.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def corpus_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The DuckDB file of a small corpus that tests of tools and agents run on."""
    path = tmp_path_factory.mktemp("corpus") / "papers.duckdb"
    _fake().write(path)
    return path


@pytest.fixture
def library(corpus_file: Path) -> Any:
    """That corpus as a Library."""
    return _fake().FakeLibrary(corpus_file)
