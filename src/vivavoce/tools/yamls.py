"""YAML that a model wrote: plain values only, no aliases (which can blow up), and `yes` a word unless asked otherwise."""

from __future__ import annotations

from typing import Any

import yaml


class _Words(yaml.SafeLoader):
    """Reads true and false as booleans (YAML 1.2), and yes, no, on, off as the words they are."""


_Words.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:bool" or first in "tTfF"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def load_yaml(text: str, *, words_as_booleans: bool = False) -> Any:
    """The value of a YAML text. Raises yaml.YAMLError when it is none, or holds an alias."""
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        if isinstance(event, yaml.AliasEvent):
            raise yaml.YAMLError("aliases are not read")
    return yaml.load(text, Loader=yaml.SafeLoader if words_as_booleans else _Words)  # noqa: S506 (both are safe loaders)
