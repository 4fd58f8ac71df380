"""Upstream files: mirror first, then the network with resume; every wrong or missing file is one clear message."""

from __future__ import annotations

import hashlib
import io
import tarfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from vivavoce import assets
from vivavoce.assets import git_blob, members_sha256, mirrored, resolve
from vivavoce.config.benchmark import Asset
from vivavoce.errors import DataError

CONTENT = b"one line\n" * 5000
DIGEST = hashlib.sha256(CONTENT).hexdigest()


class Host(BaseHTTPRequestHandler):
    """Serves CONTENT with ranges; `/cut` breaks off half way at first, `/gone` is not there."""

    broken: list[str] = []
    ranges: list[str | None] = []

    def do_GET(self) -> None:
        Host.ranges.append(self.headers.get("Range"))
        if self.path == "/gone":
            self.send_error(404)
            return
        start = int((self.headers.get("Range") or "bytes=0-").removeprefix("bytes=").rstrip("-"))
        body = CONTENT[start:]
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.path == "/cut" and not Host.broken:
            Host.broken.append(self.path)
            body = body[: len(body) // 2]
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(assets.time, "sleep", lambda seconds: None)
    Host.broken, Host.ranges = [], []
    server = HTTPServer(("127.0.0.1", 0), Host)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def fetch(tmp_path: Path, mirror: Path | None = None, **asset: object) -> Path:
    fields = {"licence": "x", "sha256": DIGEST, **asset}
    found, _ = resolve(
        {"data": Asset(**fields)}, tmp_path / "cache", root=tmp_path, mirror=mirror, where="conf/benchmark/b.yaml"
    )
    return found["data"]


def test_the_mirror_comes_first(tmp_path: Path) -> None:
    path = mirrored("https://host.example/a/b.jsonl", tmp_path / "mirror")
    path.parent.mkdir(parents=True)
    path.write_bytes(CONTENT)
    assert fetch(tmp_path, tmp_path / "mirror", url="https://host.example/a/b.jsonl") == path


def test_a_download_is_verified_kept_and_not_repeated(tmp_path: Path, host: str) -> None:
    first = fetch(tmp_path, url=f"{host}/file")
    assert first.read_bytes() == CONTENT
    assert fetch(tmp_path, url=f"{host}/file") == first
    assert len(Host.ranges) == 1


def test_a_broken_download_resumes_where_it_broke(tmp_path: Path, host: str) -> None:
    assert fetch(tmp_path, url=f"{host}/cut", bytes=len(CONTENT)).read_bytes() == CONTENT
    assert Host.ranges == [None, f"bytes={len(CONTENT) // 2}-"]


@pytest.mark.parametrize("wrong", [{"sha256": "0" * 64}, {"sha256": "", "git_blob": "0" * 40}])
def test_a_wrong_digest_is_refused_and_not_kept(tmp_path: Path, host: str, wrong: dict[str, str]) -> None:
    with pytest.raises(DataError, match=r"conf/benchmark/b.yaml: asset 'data': .* expected 0000"):
        fetch(tmp_path, url=f"{host}/file", **wrong)
    assert not list((tmp_path / "cache").iterdir())


def test_missing_files_and_no_network_say_what_to_do(tmp_path: Path, host: str) -> None:
    with pytest.raises(DataError, match="answered 404"):
        fetch(tmp_path, url=f"{host}/gone")
    with pytest.raises(DataError, match=r"set VIVAVOCE_MIRROR to a folder that holds 127.0.0.1:1/x"):
        fetch(tmp_path, url="http://127.0.0.1:1/x")
    with pytest.raises(DataError, match="missing in this project"):
        fetch(tmp_path, path="nix.jsonl")


def test_an_optional_file_is_skipped_with_the_reason(tmp_path: Path) -> None:
    asset = Asset(url="http://127.0.0.1:1/x", sha256=DIGEST, licence="x", optional=True)
    found, absent = resolve({"data": asset}, tmp_path, root=tmp_path, mirror=tmp_path, where="w")
    assert found == {}
    assert "cannot download" in absent["data"]


def test_an_archive_is_known_by_its_members(tmp_path: Path) -> None:
    digests = set()
    for kind, names in (("gz", ["a", "b"]), ("xz", ["b", "a"])):
        path = tmp_path / f"x.tar.{kind}"
        with tarfile.open(path, f"w:{kind}") as tar:
            for name in names:
                member = tarfile.TarInfo(name)
                member.size = 4
                tar.addfile(member, io.BytesIO(name.encode() * 4))
        digests.add(members_sha256(path))
    assert len(digests) == 1


def test_git_blob_ids_are_gits_own(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"hello\n")
    assert git_blob(path) == "ce013625030ba8dba906f756967f9e9ca394464a"
