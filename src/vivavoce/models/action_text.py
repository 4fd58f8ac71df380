"""Writing an action as text in the four syntaxes: for prompts, for the history, and for the offline baseline."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal
from xml.sax.saxutils import escape

import yaml

Syntax = Literal["markdown", "json", "xml", "yaml"]
SYNTAXES: tuple[Syntax, ...] = ("markdown", "json", "xml", "yaml")


def write_action(name: str, arguments: Mapping[str, Any], syntax: Syntax) -> str:
    """An action as one call, one JSON object, one XML element or one YAML mapping."""
    values = {key: list(value) if isinstance(value, tuple) else value for key, value in arguments.items()}
    if syntax == "markdown":
        return f"{name}({', '.join(f'{key}={value!r}' for key, value in values.items())})"
    if syntax == "json":
        return json.dumps({"action_type": name, "parameters": values}, indent=4, ensure_ascii=False)
    if syntax == "xml":
        lines = [f"        <{key}>{escape(str(value))}</{key}>" for key, value in values.items()]
        inner = "\n".join(["    <parameters>", *lines, "    </parameters>"])
        return f"<action>\n    <action_type>{name}</action_type>\n{inner}\n</action>"
    tree = {"action_type": name, "parameters": values}
    return yaml.safe_dump(tree, sort_keys=False, allow_unicode=True, width=10_000, indent=4).rstrip("\n")


def write_turn(thought: str, action_text: str) -> str:
    """A turn of the ReAct exchange."""
    return f"[Thought]: {thought}\n[Action]:\n{action_text}"
