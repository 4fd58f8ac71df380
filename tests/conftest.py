"""Where tests find upstream material; without it they skip and say so."""

from __future__ import annotations

import os
from pathlib import Path

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
