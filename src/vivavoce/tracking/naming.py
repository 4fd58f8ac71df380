"""Names and values that MLflow takes: what it would reject or cut is changed here, and said so in a tag."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping

_ILLEGAL = re.compile(r"[^\w\-. /:]")
METRIC_LENGTH = 250
PARAM_LENGTH = 6000
TAG_LENGTH = 8000


def metric_name(name: str) -> str:
    """A legal metric name: other characters become `_`, and a long name keeps its start and a digest of the whole."""
    parts = [part for part in _ILLEGAL.sub("_", name).split("/") if part.strip(".")]  # MLflow takes names as paths
    return _short("/".join(parts) or "_", name, METRIC_LENGTH)


def metrics(values: Mapping[str, float | None]) -> tuple[dict[str, float], dict[str, str]]:
    """Legal metrics, and tags that tell what was changed or left out (infinite and missing values; names that collide)."""
    legal: dict[str, float] = {}
    told: dict[str, str] = {}
    for name, value in sorted(values.items()):
        if value is None or not math.isfinite(value):
            told[f"vivavoce.left_out.{metric_name(name)}"] = str(value)
            continue
        changed = metric_name(name)
        if changed in legal:
            changed = _short(
                f"{changed}~{hashlib.sha256(name.encode()).hexdigest()[:8]}".replace("~", "_"), name, METRIC_LENGTH
            )
        if changed != name:
            told[f"vivavoce.renamed.{changed}"] = name
        legal[changed] = float(value)
    return legal, told


def text(value: str, length: int) -> str:
    """A parameter or tag of at most `length` characters; a longer one ends in its digest instead of being cut silently."""
    return _short(value, value, length)


def _short(value: str, whole: str, length: int) -> str:
    if len(value) <= length:
        return value
    mark = f"...{hashlib.sha256(whole.encode()).hexdigest()[:12]}"
    return value[: length - len(mark)] + mark
