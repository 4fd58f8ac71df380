"""`conf/judge/*.yaml`: the code of a judge, the model that it asks, and its options."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from vivavoce.config.base import Strict


class JudgeConfig(Strict):
    """One judge. `model` names a file of conf/model/, for judges that ask a language model."""

    name: str
    judge: str = Field(pattern=r"^[\w.]+:\w+$")
    model: str | None = None
    options: dict[str, Any] = {}
