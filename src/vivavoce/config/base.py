"""The strict base of all configuration models, and the loader of the code that a file names."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from vivavoce.errors import ConfigError

T = TypeVar("T", bound=BaseModel)


class Frozen(BaseModel):
    """Unknown keys are errors, and nothing changes after loading: what all options of agents, judges, tables and plots are."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Strict(Frozen):
    """A configuration block: wrong types are errors as well."""

    model_config = ConfigDict(strict=True)


def checked(kind: type[T], options: Mapping[str, Any], where: str) -> T:
    """Options by their model. Raises ConfigError that names `where` and the keys."""
    try:
        return kind(**options)
    except ValidationError as error:
        keys = "; ".join(f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in error.errors())
        raise ConfigError(f"{where}: options: {keys}.") from None


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
