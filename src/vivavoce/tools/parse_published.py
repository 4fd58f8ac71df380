"""Parsing a reply as the published agents do, defects included, except that nothing is executed.

Source: spec/airqa.md 4.2 (NeuSym-RAG agents/envs/actions/action.py@596e644e), golden/airqa/action_parse_golden.jsonl. The
defects are listed in docs/divergences.md; `parse.py` has the corrected rules.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Sequence
from typing import Any

import yaml

from vivavoce.models.action_text import Syntax, write_action, write_turn
from vivavoce.tools.actions import ACTIONS
from vivavoce.tools.parsed import MAX_REPLY, Parsed, Protocol
from vivavoce.tools.yamls import load_yaml

_MARK = r"[\[\*]{{0,2}}(?:{}){}[\]\*]{{0,2}}:[\*]{{0,2}}"
_THOUGHT = re.compile(_MARK.format("thought|think", "") + r"\s*(.*?)\s*(?=[\[\*]{0,2}action[\]\*]{0,2}:|\Z)", re.I | re.S)
_ACTION = re.compile(_MARK.format("action", "") + r"\s*(.*?)\s*(?=[\[\*]{0,2}observation[\]\*]{0,2}:|\Z)", re.I | re.S)
_FENCE = re.compile(r"```\S*\s*(.*?)\s*```", re.S)
_HIDDEN = ("thought", "observation_format_kwargs")  # fields of the base class, which positional arguments fill first
_EXTRA: dict[str, dict[str, Any]] = {"RetrieveFromVectorstore": {"output_fields": []}}


def extract(reply: str, protocol: Protocol) -> tuple[str | None, str]:
    """The thought (None without a tag) and the text of the action."""
    if protocol == "code_block":
        blocks = _FENCE.findall(reply)
        return None, blocks[-1] if blocks else reply.strip()
    thought, action = _THOUGHT.search(reply), _ACTION.search(reply)
    return (thought[1] if thought else None), (action[1] if action else reply.strip())


def parse_published(reply: str, names: Sequence[str], syntax: Syntax, protocol: Protocol = "react") -> Parsed:
    """The action in `reply`, one of `names`, by the published rules."""
    thought, text = extract(reply[:MAX_REPLY], protocol)
    try:
        name, positional, given = _READ[syntax](text, names)
        arguments = _bind(name, positional, given)
    except _NoActionError:
        known = ", ".join(names)
        return Parsed(error=f"Failed to parse a valid action from the response. The actions are {known}.", text=text)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError, yaml.YAMLError) as error:
        return Parsed(error=f"Failed to parse the action and its parameters from the response. {_short(error)}", text=text)
    return Parsed(thought=thought or "", action=name, arguments=arguments, text=text)


def history_published(parsed: Parsed, reply: str, syntax: Syntax, protocol: Protocol = "react") -> str:
    """The assistant message that the published agents put in the history: the action written anew, defaults filled in.

    As published, XML and YAML lose the thought, and a reply without a valid action stays as it is.
    """
    if not parsed.action:
        return reply
    arguments = {key: value for key, value in parsed.arguments.items() if key not in _EXTRA.get(parsed.action, {})}
    if parsed.action == "RetrieveFromVectorstore":
        arguments = {**arguments, "limit": parsed.arguments["limit"]}
    text = write_action(parsed.action, arguments, syntax)
    if syntax == "xml":
        return text
    if syntax == "yaml":
        return "\n" + yaml.safe_dump(
            {"action_type": parsed.action, "parameters": arguments}, sort_keys=False, allow_unicode=True, indent=4
        )
    if protocol == "code_block":
        text = f"```{syntax}\n{text}\n```"
    return write_turn(parsed.thought, text)


class _NoActionError(Exception):
    """None of the actions is named."""


def _markdown(text: str, names: Sequence[str]) -> tuple[str, list[Any], dict[str, Any]]:
    name = text.split("(")[0].strip()
    if name not in names:
        raise _NoActionError
    call = ast.parse(text, mode="eval").body
    if not isinstance(call, ast.Call):
        raise TypeError("expected a call")
    positional = [ast.literal_eval(item) for item in call.args]
    given: dict[str, Any] = {}
    for keyword in call.keywords:
        if keyword.arg is None:
            raise TypeError("keywords must be strings")
        given[keyword.arg] = ast.literal_eval(keyword.value)
    return name, positional, given


def _json(text: str, names: Sequence[str]) -> tuple[str, list[Any], dict[str, Any]]:
    tree = json.loads(text[text.find("{") : text.rfind("}") + 1])
    return _named(tree, names)


def _yaml(text: str, names: Sequence[str]) -> tuple[str, list[Any], dict[str, Any]]:
    return _named(load_yaml(text, words_as_booleans=True), names)


def _xml(text: str, names: Sequence[str]) -> tuple[str, list[Any], dict[str, Any]]:
    """As a lenient HTML parser reads it: values are texts, and a bare `<` ends one."""
    name = re.search(r"<action_type>\s*([^<]*?)\s*</action_type>", text)
    if name is None or name[1] not in names:
        raise _NoActionError
    body = re.search(r"<parameters>(.*)</parameters>", text, re.S)
    pairs = re.findall(r"<(\w+)>([^<]*)(?:<(?!/\1>).*?)?</\1>", body[1] if body else "", re.S)
    return name[1], [], {key: _unescape(value.strip()) for key, value in pairs}


_READ = {"markdown": _markdown, "json": _json, "yaml": _yaml, "xml": _xml}


def _named(tree: Any, names: Sequence[str]) -> tuple[str, list[Any], dict[str, Any]]:
    if not isinstance(tree, dict):
        raise TypeError("expected a dictionary with action_type and parameters")
    if tree.get("action_type") not in names:
        raise _NoActionError
    parameters = tree.get("parameters", {})
    if not isinstance(parameters, dict):
        raise TypeError("expected the parameters to be a dictionary")
    return tree["action_type"], [], parameters


def _bind(name: str, positional: list[Any], given: dict[str, Any]) -> dict[str, Any]:
    own = {item.name: "" if item.required else item.default for item in ACTIONS[name].parameters}
    own = {key: list(value) if isinstance(value, tuple) else value for key, value in own.items()}
    fields = {**dict.fromkeys(_HIDDEN, ""), **own, **_EXTRA.get(name, {})}
    if len(positional) > len(fields):
        raise TypeError(f"{name} takes at most {len(fields)} arguments")
    bound = dict(zip(fields, positional, strict=False))
    for key, value in given.items():
        if key not in fields:
            raise TypeError(f"{name} got an unexpected keyword argument {key!r}")
        if key in bound:
            raise TypeError(f"{name} got multiple values for argument {key!r}")
        bound[key] = value
    return {key: value for key, value in {**fields, **bound}.items() if key not in _HIDDEN}


def _unescape(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"').replace("&apos;", "'").replace("&amp;", "&")


def _short(error: BaseException) -> str:
    return str(error).split("\n")[0][:300]
