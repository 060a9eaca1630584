"""Rewordings put into the text of a config: nothing of it changes but the descriptions, comments stay."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from copy import deepcopy
from typing import Any, cast

import yaml

from toolspan_server.errors import ConfigError
from toolspan_server.schema.positions import parse_document

from .rewording import Rewording

__all__ = ["reworded_config"]

_KEY = "description"
_VARIABLE = "${"


def reworded_config(text: str, name: str, rewordings: Iterable[Rewording]) -> tuple[str, list[Rewording]]:
    """``text``, the config file ``name``, with those ``rewordings`` that are of its tools, and these.

    Left out is what its text cannot take: a description with variables, whose values would be written down.
    A description is never read as a variable.
    """
    taken: list[Rewording] = []
    for each in rewordings:
        changed = _changed(text, name, each)
        if changed is not None:
            text = changed
            taken.append(each)
    return text, taken


def _changed(text: str, name: str, rewording: Rewording) -> str | None:
    """``text`` with one of them, ``None`` where that would not be the whole of what changes."""
    try:
        data = parse_document(text, name).data
        wanted = _with(data, rewording)
        node = _described(yaml.compose(text, Loader=yaml.SafeLoader), rewording)
        if wanted is None or node is None:
            return None
        changed = _edited(text, node, _quoted(rewording), is_json=text.lstrip().startswith("{"))
        return changed if parse_document(changed, name).data == wanted else None
    except (ConfigError, yaml.YAMLError):
        return None


def _with(data: Any, rewording: Rewording) -> Any:
    """``data`` with the description in it; ``None`` where it has no such tool, or variables in place."""
    copied = deepcopy(data)
    for tool in _tools(copied):
        if _inside(tool, "name") == rewording.tool:
            parameter = ("parameters", "properties", rewording.parameter) if rewording.parameter else ()
            found = _inside(tool, *parameter)
            if not isinstance(found, dict) or _VARIABLE in str(cast("Any", found).get(_KEY, "")):
                return None
            found[_KEY] = _escaped(rewording)
            return copied
    return None


def _tools(data: Any) -> list[Any]:
    found: list[Any] | None = _inside(data, "tools", "registry")
    return found if isinstance(found, list) else []


def _inside(data: Any, *keys: str) -> Any:
    for key in keys:
        data = cast("Mapping[str, Any]", data).get(key) if isinstance(data, Mapping) else None
    return data


def _described(root: yaml.Node | None, rewording: Rewording) -> yaml.MappingNode | None:
    """What is described: the tool's node, or its parameter's."""
    registry = _child(_child(root, "tools"), "registry")
    for tool in registry.value if isinstance(registry, yaml.SequenceNode) else ():
        named = _child(tool, "name")
        if named is not None and named.value == rewording.tool:
            found: yaml.Node | None = tool
            if rewording.parameter:
                found = _child(_child(_child(tool, "parameters"), "properties"), rewording.parameter)
            return found if isinstance(found, yaml.MappingNode) else None
    return None


def _child(node: yaml.Node | None, key: str) -> yaml.Node | None:
    pairs = node.value if isinstance(node, yaml.MappingNode) else ()
    return next((value for name, value in pairs if name.value == key), None)


def _edited(text: str, node: yaml.MappingNode, quoted: str, *, is_json: bool) -> str:
    """``text`` with the description of ``node``, which is put before all else where there is none."""
    old = _child(node, _KEY)
    if old is not None:
        start, end = old.start_mark.index, old.end_mark.index
        there = text[start:end]
        blank = there[len(there.rstrip()) :]  # a block of text ends where the next line begins
        return text[:start] + quoted + blank + text[end:]
    entry = f'"{_KEY}": {quoted}' if is_json else f"{_KEY}: {quoted}"
    if not node.value:
        start = node.start_mark.index + 1
        return text[:start] + entry + text[start:]
    first = node.value[0][0].start_mark
    line_end = "\r\n" if "\r\n" in text else "\n"
    after = ", " if node.flow_style else line_end + " " * first.column
    return text[: first.index] + entry + after + text[first.index :]


def _escaped(rewording: Rewording) -> str:
    return rewording.description.replace(_VARIABLE, "$" + _VARIABLE)


def _quoted(rewording: Rewording) -> str:
    return json.dumps(_escaped(rewording), ensure_ascii=False)
