"""The build script reproduces the committed PDFs, byte by byte."""

from __future__ import annotations

import hashlib
import platform
import re
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

# What the zlib that compressed the committed PDFs makes of a fixed text.
# Another zlib (zlib-ng) compresses to other bytes of the same meaning.
PROBE = "1755db35413eece8"


@pytest.fixture(scope="module")
def builds(root: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two builds at the same time, started from different folders."""
    made = [tmp_path_factory.mktemp(name) for name in ("one", "two")]
    script = str(root / "specimen" / "build.py")
    runs = [
        subprocess.Popen([sys.executable, script, "--out", str(out)], cwd=out, stderr=subprocess.PIPE, text=True)
        for out in made
    ]
    for run in runs:
        _, errors = run.communicate(timeout=240)
        assert run.returncode == 0, errors
    return made


def digests(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted((folder / "pdfs").glob("*.pdf"))}


def probe() -> str:
    text = b"".join(b"%d lichen reaches and %d voles\n" % (i * i, i % 7) for i in range(400))
    return hashlib.sha256(zlib.compress(text)).hexdigest()[:16]


def streams(pdf: bytes, images: bool) -> list[bytes]:
    """The decompressed streams, in order; those of images only if asked for."""
    found = []
    for match in re.finditer(rb"obj\s*(<<[^>]*?/Length (\d+)[^>]*>>)\s*stream\r?\n", pdf):
        if images or b"/Image" not in match[1]:
            body = pdf[match.end() : match.end() + int(match[2])]
            found.append(zlib.decompress(body) if b"FlateDecode" in match[1] else body)
    return found


def test_two_builds_are_identical(builds: list[Path]) -> None:
    assert digests(builds[0]) == digests(builds[1])
    assert (builds[0] / "papers.json").read_bytes() == (builds[1] / "papers.json").read_bytes()


def test_build_gives_the_committed_files(builds: list[Path], specimen: Path) -> None:
    assert (builds[0] / "papers.json").read_bytes() == (specimen / "papers.json").read_bytes()
    if probe() == PROBE and platform.machine() == "x86_64":
        assert digests(builds[0]) == digests(specimen)
    assert set(digests(builds[0])) == set(digests(specimen))


def test_build_gives_the_committed_content_under_any_zlib(builds: list[Path], specimen: Path) -> None:
    # Pixels of a chart may differ in the last bit on another processor; text and fonts may not.
    images = platform.machine() == "x86_64"
    for path in sorted((specimen / "pdfs").glob("*.pdf")):
        ours = streams(path.read_bytes(), images)
        assert len(ours) > 5
        assert streams((builds[0] / "pdfs" / path.name).read_bytes(), images) == ours


def test_pdfs_tell_no_time_and_no_path(specimen: Path) -> None:
    for path in (specimen / "pdfs").glob("*.pdf"):
        content = path.read_bytes()
        assert b"/work" not in content and b"/home" not in content and b"/tmp" not in content
        assert set(re.findall(rb"/CreationDate \((.*?)\)", content)) == {b"D:20000101000000+00'00'"}
