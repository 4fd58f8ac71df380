"""Write envs/vivavoce.yaml (for `snakemake --sdm conda`) from the pins of requirements.lock: `make lock` does both."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEAD = """\
# Written by scripts/environments.py from requirements.lock (make lock); a test fails when they differ.
# For snakemake --sdm conda. Without it the same rules run in the environment that snakemake runs in.
name: vivavoce
channels:
  - conda-forge
dependencies:
  - python=3.11
  - pip
  - pip:
"""


def pins(lock: Path) -> dict[str, str]:
    """Package -> version of a lock file."""
    return dict(re.findall(r"^([a-z0-9._-]+)==([^\s;]+)", lock.read_text(encoding="utf-8"), flags=re.MULTILINE))


def environment(root: Path) -> str:
    """The text of envs/vivavoce.yaml: the project's own requirements, each at the lock's version."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    locked = pins(root / "requirements.lock")
    names = sorted(re.split(r"[<>=\[ ]", requirement)[0].lower() for requirement in project["dependencies"])
    return HEAD + "".join(f"      - {name}=={locked[name]}\n" for name in names)


if __name__ == "__main__":
    (ROOT / "envs").mkdir(exist_ok=True)
    (ROOT / "envs" / "vivavoce.yaml").write_text(environment(ROOT), encoding="utf-8")
