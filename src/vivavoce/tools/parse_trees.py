"""Reading an action's name and arguments from text in the four syntaxes, by the corrected rules; nothing is executed.

Each reader takes the text and the allowed names and returns (name, positional, given, notes); what it cannot read is a
ValueError, SyntaxError or TypeError whose message helps a model to do better.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Sequence
from typing import Any
from xml.sax.saxutils import escape

import yaml

from vivavoce.tools.yamls import load_yaml

Read = tuple[str, list[Any], dict[str, Any], list[str]]


def read_call(text: str, names: Sequence[str]) -> Read:
    """`Name(key=literal, ...)`; what follows the closing parenthesis is ignored, with a note."""
    match = re.match(r"[\s*]*([A-Za-z_]+)\s*\(", text)
    if match is None:
        raise ValueError(f"expected a call such as {names[0]}(...)")
    name, notes = _known(match[1], names)
    call, rest = _balanced(text[match.start(1) :])
    tree = ast.parse(call, mode="eval").body
    if not isinstance(tree, ast.Call):
        raise TypeError("expected a single call")
    if rest.strip().strip(".*`"):
        notes.append("text after the action was ignored")
    given: dict[str, Any] = {}
    for keyword in tree.keywords:
        if keyword.arg is None:
            raise ValueError("** is not read: write each parameter by name")
        given[keyword.arg] = _literal(keyword.value, keyword.arg)
    return name, [_literal(item, "an argument") for item in tree.args], given, notes


def read_json(text: str, names: Sequence[str]) -> Read:
    """`{"action_type": ..., "parameters": {...}}`: the first object of the text; a Python literal will do, with a note."""
    start = text.find("{")
    if start < 0:
        raise ValueError('expected a JSON object such as {"action_type": ..., "parameters": {...}}')
    try:
        tree, _ = json.JSONDecoder(strict=False).raw_decode(text[start:])
        repairs = []
    except json.JSONDecodeError as error:
        try:
            tree = ast.literal_eval(text[start : text.rfind("}") + 1])
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            raise ValueError(f"not valid JSON: {error}") from None
        repairs = ["a Python literal was read in the place of JSON"]
    return _from_tree(tree, names, repairs)


def read_yaml(text: str, names: Sequence[str]) -> Read:
    """The same mapping in YAML; `yes` and `no` stay words."""
    try:
        tree = load_yaml(text)
    except yaml.YAMLError as error:
        raise ValueError(f"not valid YAML: {str(error).splitlines()[0]}") from None
    return _from_tree(tree, names, [])


def read_xml(text: str, names: Sequence[str]) -> Read:
    """`<action>` with `<action_type>` and `<parameters>`; bare `<` and `&` in a value are taken as written."""
    from defusedxml.common import DefusedXmlException
    from defusedxml.ElementTree import ParseError, fromstring

    match = re.search(r"<action>.*</action>", text, re.S)
    if match is None:
        raise ValueError("expected an <action> element")
    notes = []
    try:
        root = fromstring(match[0])
    except DefusedXmlException:
        raise ValueError("entities and document types are not read") from None
    except ParseError:
        repaired = re.sub(
            r"<(?!action>|parameters>)(\w+)>(.*?)</\1>",
            lambda found: f"<{found[1]}>{escape(re.sub(r'&(lt|gt|amp);', _bare, found[2]))}</{found[1]}>",
            match[0],
            flags=re.S,
        )
        try:
            root = fromstring(repaired)
        except (ParseError, DefusedXmlException) as error:
            raise ValueError(f"not valid XML: {error}") from None
        notes.append("bare < or & in a value was taken as written")
    action = (root.findtext("action_type") or "").strip()
    parameters = root.find("parameters")
    given = {item.tag: _text_or_list(item) for item in parameters} if parameters is not None else {}
    name, more = _known(action, names)
    return name, [], given, notes + more


def _bare(match: re.Match[str]) -> str:
    return {"lt": "<", "gt": ">", "amp": "&"}[match[1]]


def _text_or_list(element: Any) -> Any:
    if len(element):
        return [(child.text or "").strip() for child in element]
    return (element.text or "").strip()


def _from_tree(tree: Any, names: Sequence[str], notes: list[str]) -> Read:
    if not isinstance(tree, dict):
        raise TypeError("expected a mapping with action_type and parameters")
    action = tree.get("action_type", tree.get("name"))
    given = tree.get("parameters", tree.get("arguments", {}))
    if not isinstance(given, dict):
        raise TypeError("parameters must be a mapping from name to value")
    name, more = _known(str(action or ""), names)
    return name, [], {str(key): value for key, value in given.items()}, notes + more


def _known(name: str, names: Sequence[str]) -> tuple[str, list[str]]:
    if name in names:
        return name, []
    for known in names:
        if known.lower() == name.lower():
            return known, [f"{name} read as {known}"]
    raise ValueError(f"there is no action {name[:60]!r} here")


def _balanced(text: str) -> tuple[str, str]:
    """The call at the beginning of a text up to its closing parenthesis, and the rest."""
    depth, position = 0, 0
    while position < len(text):
        quote = re.compile(r"'''|\"\"\"|'|\"").match(text, position)
        if quote:
            end = re.compile(rf"(?:\\.|(?!{quote[0]}).)*{quote[0]}", re.S).match(text, quote.end())
            if end is None:
                raise ValueError("a quote is not closed")
            position = end.end()
            continue
        if text[position] == "#" and "\n" in text[position:]:
            position = text.index("\n", position)
        depth += (text[position] in "([{") - (text[position] in ")]}")
        position += 1
        if depth == 0 and text[position - 1] == ")":
            return text[:position], text[position:]
    raise ValueError("a parenthesis is not closed")


def _literal(node: ast.expr, name: str) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, MemoryError, RecursionError):
        raise ValueError(f"{name} must be a literal value (text, number, list, dictionary), not an expression") from None
