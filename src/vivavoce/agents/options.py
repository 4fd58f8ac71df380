"""Options of agents: checked when an agent is made, so that a wrong key names the file and the keys that exist."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, Field, ValidationError

from vivavoce.config.base import Frozen
from vivavoce.errors import ConfigError


class Options(Frozen):
    """What every agent may be given. `sampling` overrides the model's own parameters (temperature, top_p, max_tokens)."""

    sampling: dict[str, float | int] = Field(default={}, description="sampling parameters of the agent's calls")


Kind = TypeVar("Kind", bound=BaseModel)


def read_options(kind: type[Kind], options: Mapping[str, Any] | Kind, agent: str) -> Kind:
    """Validated options; a ConfigError names the file, the key and what was expected."""
    if isinstance(options, kind):
        return options
    try:
        return kind.model_validate(dict(options))  # type: ignore[call-overload, unused-ignore]
    except ValidationError as error:
        known = ", ".join(sorted(kind.model_fields))
        faults = "; ".join(f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors())
        raise ConfigError(f"conf/agent/{agent}.yaml: options: {faults}. Known options are {known}.") from None
