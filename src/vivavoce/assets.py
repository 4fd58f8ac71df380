"""Upstream files: from the mirror, this project or the network, verified by digest before anything reads them."""

from __future__ import annotations

import hashlib
import logging
import shutil
import tarfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from vivavoce.config.benchmark import Asset
from vivavoce.errors import DataError
from vivavoce.files import sha256

log = logging.getLogger(__name__)
ATTEMPTS = 4
BLOCK = 1 << 20


def resolve(
    assets: Mapping[str, Asset], cache: Path, *, root: Path, mirror: Path | None, where: str
) -> tuple[dict[str, Path], dict[str, str]]:
    """Paths of verified files by asset name, and why those optional ones that are absent are not to be had.

    `cache` keeps what was downloaded, by digest; `where` (a configuration file) stands in errors.
    Raises DataError for a wrong hash, a missing file, or no network.
    """
    found: dict[str, Path] = {}
    absent: dict[str, str] = {}
    for name, asset in sorted(assets.items()):
        try:
            found[name] = _resolve(asset, cache, root, mirror, f"{where}: asset '{name}'")
        except DataError as error:
            if not asset.optional:
                raise
            absent[name] = str(error)
            log.warning("skipped: %s", error)
    return found, absent


def mirrored(url: str, mirror: Path) -> Path:
    """Where a mirror keeps a URL: `<host>/<path>`."""
    parts = urlsplit(url)
    return mirror / parts.netloc / parts.path.lstrip("/")


def members_sha256(archive: Path) -> str:
    """Digest of an archive's content: sha256 over sorted '<member sha256> <name>' lines, whatever its compression."""
    lines = []
    with tarfile.open(archive, "r:*") as tar:
        for member in tar:
            if member.isfile() and (stream := tar.extractfile(member)) is not None:
                lines.append(f"{hashlib.file_digest(stream, 'sha256').hexdigest()} {member.name}\n")  # type: ignore[arg-type]
    return hashlib.sha256("".join(sorted(lines)).encode()).hexdigest()


def git_blob(path: Path) -> str:
    """The id that git gives a file's content."""
    digest = hashlib.sha1(f"blob {path.stat().st_size}\0".encode(), usedforsecurity=False)
    with path.open("rb") as stream:
        while block := stream.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()


def _resolve(asset: Asset, cache: Path, root: Path, mirror: Path | None, where: str) -> Path:
    if asset.path:
        path = root / asset.path
        if not path.is_file():
            raise DataError(f"{where}: {asset.path} is missing in this project. Restore it from version control.")
        return _verified(path, asset, where)
    if mirror is not None and (path := mirrored(asset.url, mirror)).is_file():
        return _verified(path, asset, where)
    key = asset.sha256 or asset.members_sha256 or asset.git_blob
    path = cache / f"{key[:16]}-{Path(urlsplit(asset.url).path).name}"
    if not path.is_file():
        _download(asset, path, where)
    return path


def _verified(path: Path, asset: Asset, where: str) -> Path:
    checks: list[tuple[str, str, Callable[[Path], str]]] = [
        ("sha256", asset.sha256, sha256),
        ("members_sha256", asset.members_sha256, members_sha256),
        ("git_blob", asset.git_blob, git_blob),
    ]
    for kind, expected, measure in checks:
        if expected and (actual := measure(path)) != expected:
            raise DataError(
                f"{where}: {path} has {kind} {actual}, expected {expected}. The file is not the pinned version: "
                "delete it and fetch again, or correct the pin if you mean another version."
            )
    return path


def _download(asset: Asset, path: Path, where: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    for attempt in range(1, ATTEMPTS + 1):
        try:
            _stream(asset.url, part, asset.bytes)
            break
        except urllib.error.HTTPError as error:
            if error.code in (400, 401, 403, 404, 410):
                raise DataError(
                    f"{where}: {asset.url} answered {error.code}. The pinned file is not there; put it into the mirror."
                ) from None
            reason: object = error
        except OSError as error:
            reason = getattr(error, "reason", error)
        if attempt == ATTEMPTS:
            raise DataError(
                f"{where}: cannot download {asset.url} ({reason}). Connect to the network, or set VIVAVOCE_MIRROR to a folder "
                f"that holds {mirrored(asset.url, Path())}."
            )
        time.sleep(2.0 ** (attempt - 1))
    try:
        _verified(part, asset, where)
    except DataError:
        part.unlink()
        raise
    part.replace(path)


def _stream(url: str, part: Path, size: int | None) -> None:
    """Append to what an earlier attempt left, if the server can resume."""
    offset = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(url, headers={"Range": f"bytes={offset}-"} if offset else {})  # noqa: S310 - pinned, checked by digest
    with urllib.request.urlopen(request, timeout=60) as response:  # noqa: S310
        resumed = response.status == 206
        with part.open("ab" if resumed else "wb") as stream:
            log.info("download %s%s", url, f" from byte {offset}" if resumed else "")
            shutil.copyfileobj(response, stream, BLOCK)
    if size is not None and part.stat().st_size < size:
        raise OSError(f"connection ended after {part.stat().st_size} of {size} bytes")
