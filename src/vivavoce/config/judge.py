"""`conf/judge/*.yaml`: who judges, with which model, in which version of the prompts."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from vivavoce.config.base import Strict
from vivavoce.config.benchmark import Asset


class JudgeConfig(Strict):
    """One judge. `judge` is `module:class`, called as `class(model, options, name=..., versions=...)`.

    `model` names a file of conf/model (null: the judge calls none), so any model can judge. `versions` pins judge tasks: a
    task whose file has another version stops the step instead of judging by another prompt. `sources` are pinned files that the
    judge reads: the path of each becomes the option of its name. `title` is what tables call it, `note` stands under them.
    """

    name: str  # the name of the file that it stands in
    title: str = ""
    judge: str = Field(pattern=r"^[\w.]+:\w+$")
    model: str | None = None
    options: dict[str, Any] = {}
    versions: dict[str, Annotated[int, Field(ge=1)]] = {}
    sources: dict[str, Asset] = {}
    note: str = ""
