"""The strict base of all configuration models, and the loader of the code that a file names."""

from __future__ import annotations

import importlib
from typing import Any

from pydantic import BaseModel, ConfigDict

from vivavoce.errors import ConfigError


class Strict(BaseModel):
    """A configuration block: unknown keys and wrong types are errors, and nothing changes after loading."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


def module_of(target: str) -> str:
    """The module part of a target such as `package.module:name`."""
    return target.partition(":")[0]


def load(target: str, where: str) -> Any:
    """Import what `package.module:name` names; `where` (file and key) stands in the error."""
    module, _, name = target.partition(":")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigError(
            f"{where}: cannot load '{target}': {error}. Expected package.module:name of code that is installed."
        ) from None
