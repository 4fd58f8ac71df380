"""Parsing a reply into an action by the corrected rules; `parse_reply` chooses between them and the published ones.

What is corrected (spec/airqa.md 4.2): tags count only at the start of a line; the last action before an observation that the
model made up is taken; positional arguments go to the action's own parameters in order, with a note; unknown and missing
parameters, and values of a wrong type, are errors that say what the action takes; fences, backticks and text after the call
are no errors.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Any

from vivavoce.models.action_text import Syntax
from vivavoce.tools.actions import ACTIONS, Parameter
from vivavoce.tools.parse_published import parse_published
from vivavoce.tools.parse_trees import read_call, read_json, read_xml, read_yaml
from vivavoce.tools.parsed import MAX_REPLY, Parsed, Protocol, Rules

_TAG = re.compile(r"^[ \t>#]*[\[*_]{0,3}(thought|think|action|observation)[\]*_]{0,3}\s*:[*_]{0,2}", re.I | re.M)
_BLOCK = re.compile(r"```(?P<tag>[A-Za-z]+(?=[\s`]))?[ \t]*(?P<alone>\n)?(?P<body>.*?)(?:```|\Z)", re.S)
_LANGUAGES = frozenset(
    ("txt", "text", "plaintext", "plain", "json", "python", "py", "markdown", "md", "yaml", "yml", "xml", "sql")
)
_READ = {"markdown": read_call, "json": read_json, "xml": read_xml, "yaml": read_yaml}


def parse_reply(
    reply: str, names: Sequence[str], syntax: Syntax, *, protocol: Protocol = "react", rules: Rules = "corrected"
) -> Parsed:
    """The action in a reply, one of `names`. Never raises: a reply without a valid action has `error`."""
    if rules == "as_published":
        return parse_published(reply, names, syntax, protocol)
    reply = reply[:MAX_REPLY]
    if protocol == "code_block":
        thought, texts = "", [last_block(reply)]
    else:
        thought, texts = _split(reply)
    found = _first_readable(texts, names, syntax)
    if isinstance(found, str):
        return Parsed(thought=thought, text=texts[0], error=found)
    text, (name, positional, given, notes) = found
    return check_arguments(name, positional, given, thought=thought, text=text, notes=notes)


def check_arguments(
    name: str, positional: Sequence[Any], given: dict[str, Any], *, thought: str = "", text: str = "", notes: Sequence[str] = ()
) -> Parsed:
    """Bind arguments to an action's parameters and check their types; what cannot be bound is an error that helps."""
    parameters, notes = ACTIONS[name].parameters, list(notes)
    takes = f"{name} takes " + ", ".join(
        f"{item.name}{'' if item.required else '=' + repr(item.default)}" for item in parameters
    )
    if len(positional) > len(parameters):
        return Parsed(thought=thought, text=text, error=f"Too many arguments: {takes}.")
    bound = {item.name: value for item, value in zip(parameters, positional, strict=False)}
    if bound:
        notes.append(f"positional arguments taken as {', '.join(bound)}")
    twice = sorted(set(bound) & set(given))
    unknown = sorted(set(given) - {item.name for item in parameters})
    bound.update(given)
    missing = [item.name for item in parameters if item.required and item.name not in bound]
    for fault, which in (("Twice given", twice), ("Unknown", unknown), ("Missing", missing)):
        if which:
            return Parsed(thought=thought, text=text, error=f"{fault} parameter(s) {', '.join(which)}: {takes}.")
    arguments: dict[str, Any] = {}
    for item in parameters:
        try:
            arguments[item.name] = _typed(bound[item.name], item) if item.name in bound else _default(item)
        except (TypeError, ValueError):
            error = f"{name}: {item.name} must be {_KINDS[item.kind]}, not {str(bound[item.name])[:80]!r}."
            return Parsed(thought=thought, text=text, error=error)
    return Parsed(thought=thought, action=name, arguments=arguments, text=text, notes=tuple(notes))


def last_block(reply: str) -> str:
    """The body of the last fenced block; without one, the whole reply.

    A first word is a language tag only when it stands alone on its line above a body, or is a usual one: so neither
    "```BERT```" nor "```42" on the fence's own line is lost. A fence that is not closed ends with the reply.
    """
    blocks = list(_BLOCK.finditer(reply))
    if not blocks:
        return reply.strip()
    tag, alone, body = blocks[-1]["tag"] or "", blocks[-1]["alone"], blocks[-1]["body"].strip()
    if tag and not (body and alone) and tag.lower() not in _LANGUAGES:
        return f"{tag} {body}".strip()
    return body


_KINDS = {"string": "a text", "integer": "a whole number", "box": "[x, y, width, height] or []", "any": "a value"}


def _split(reply: str) -> tuple[str, list[str]]:
    """The thought, and the candidates for the action's text, best first."""
    tags = [(match[1].lower(), match.start(), match.end()) for match in _TAG.finditer(reply)]
    actions = [tag for tag in tags if tag[0] == "action"]
    thoughts = [tag for tag in tags if tag[0].startswith("th")]
    made_up = next((tag[1] for tag in tags if tag[0] == "observation" and actions and tag[1] > actions[0][1]), len(reply))
    before = [tag for tag in actions if tag[1] < made_up]
    if not before:
        thought = reply[thoughts[0][2] :] if thoughts else ""
        return thought.strip(), [reply.strip()]
    _, start, end = before[-1]
    spoken = [tag for tag in thoughts if tag[1] < start]
    opening = spoken[-1][2] if spoken else 0
    closing = min([tag[1] for tag in tags if tag[1] >= opening], default=start)
    return reply[opening:closing].strip(), [reply[end:made_up].strip(), reply[end:].strip()]


def _first_readable(
    texts: Sequence[str], names: Sequence[str], syntax: Syntax
) -> tuple[str, tuple[str, list[Any], dict[str, Any], list[str]]] | str:
    reason = ""
    for text in dict.fromkeys(texts):
        try:
            name, positional, given, notes = _READ[syntax](_unfenced(text), names)
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError) as error:
            reason = reason or str(error).split("\n")[0][:300]
            continue
        return text, (name, positional, given, notes)
    return f"No valid action was found: {reason}. Write exactly one of {', '.join(names)} as a {syntax} action."


def _unfenced(text: str) -> str:
    return last_block(text).strip("`").strip() if "```" in text else text.strip("`").strip()


def _default(item: Parameter) -> Any:
    return list(item.default) if isinstance(item.default, tuple) else item.default


def _typed(value: Any, item: Parameter) -> Any:
    if item.kind == "any":
        return value
    if item.kind == "string":
        if isinstance(value, (list, dict, tuple, set)) or value is None:
            raise TypeError
        return str(value)
    if item.kind == "integer":
        if isinstance(value, bool) or (isinstance(value, float) and not value.is_integer()):
            raise TypeError
        return int(value)
    box = ast.literal_eval(value) if isinstance(value, str) and value.strip() else value or []
    if len(box) not in (0, 4) or not all(isinstance(side, (int, float)) for side in box):
        raise ValueError
    return list(box)
