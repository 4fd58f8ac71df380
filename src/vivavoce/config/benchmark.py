"""`conf/benchmark/*.yaml`: which files a benchmark reads, pinned by digest, and the code that reads and grades them."""

from __future__ import annotations

from typing import Any, Self

from pydantic import Field, model_validator

from vivavoce.config.base import Strict


class Asset(Strict):
    """A file as published: either `url` (pinned to a commit) or `path` (in this project), with the digest it must have.

    An archive that its host may recompress is pinned by `members_sha256`, the digest of its sorted member digests.
    `optional` files may be missing: what needs them is skipped with the reason.
    """

    url: str = ""
    path: str = ""
    sha256: str = ""
    members_sha256: str = ""
    git_blob: str = ""
    bytes: int | None = None
    licence: str
    citation: str = ""
    optional: bool = False

    @model_validator(mode="after")
    def _one_source_and_a_digest(self) -> Self:
        if bool(self.url) == bool(self.path):
            raise ValueError("expected either url or path")
        if not (self.sha256 or self.members_sha256 or self.git_blob):
            raise ValueError("expected a digest: sha256, members_sha256 (an archive) or git_blob")
        return self


class BenchmarkConfig(Strict):
    """One benchmark. `read` is `module:function`, `grade` a module with MEASURES and grade; options go to `read`."""

    name: str
    title: str
    read: str = Field(pattern=r"^[\w.]+:\w+$")
    grade: str = Field(pattern=r"^[\w.]+$")
    assets: dict[str, Asset]
    options: dict[str, Any] = {}
    corpus: str = ""
    measures: list[str] = []  # the judgements that are kept; empty: all that the grader makes
    invented: bool = False  # the specimen: its numbers compare with nothing published
