"""The pinned files that a step reads, wherever they come from."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from vivavoce import cli
from vivavoce.assets import resolve
from vivavoce.config.benchmark import Asset


def fetched(assets: Mapping[str, Asset], where: str) -> tuple[dict[str, Path], dict[str, str]]:
    """`assets.resolve` with this project's folder, its cache and the mirror of the environment."""
    return resolve(assets, Path("results/data/assets"), root=cli.ROOT, mirror=cli.mirror(), where=where)
