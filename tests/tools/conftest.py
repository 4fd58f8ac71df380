"""The small corpus that tests of tools run on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from vivavoce.tools.database import Database


@pytest.fixture(scope="session")
def database(corpus_file: Path) -> Iterator[Database]:
    shared = Database(corpus_file, seconds=1.5, megabytes=128)
    yield shared
    shared.close()
