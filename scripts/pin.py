"""Write the digests of this project's own files into the YAML files that pin them: run it after you changed such a file."""

from __future__ import annotations

import re
from pathlib import Path

from vivavoce import cli
from vivavoce.files import sha256

_PIN = re.compile(r"(path: (?P<path>[^\s,}]+), sha256: )[0-9a-f]{0,64}")


def pin(root: Path) -> list[str]:
    """Rewrite `path: P, sha256: S` in conf/ where S is not P's digest; returns the changed files."""
    changed = []
    for file in sorted((root / "conf").rglob("*.yaml")):
        text = file.read_text(encoding="utf-8")
        new = _PIN.sub(lambda match: match[1] + sha256(root / match["path"]), text)
        if new != text:
            file.write_text(new, encoding="utf-8")
            changed.append(str(file.relative_to(root)))
    return changed


if __name__ == "__main__":
    for name in pin(cli.ROOT):
        print(f"pinned anew: {name}")
