"""Editing one entry of a YAML text, and nothing else of it: comments and layout stay."""

from __future__ import annotations

import json
from typing import Any, cast

import yaml

from ...init import yaml_block
from ..install._json import UnsupportedShape

_STEP = 2


def with_entry(text: str, path: tuple[str, str], entry: dict[str, Any]) -> str:
    """``text`` with ``entry`` at ``path``, in the place of one that is there. Raises ``UnsupportedShape``."""
    line = "\r\n" if "\r\n" in text else "\n"
    root = _composed(text)
    if root is None:
        return _appended(text, line, _block({path[0]: {path[1]: entry}}, 0))
    if not isinstance(root, yaml.MappingNode) or root.flow_style:
        raise UnsupportedShape("it is written as one line of JSON")
    member = _member(root, path[0])
    if member is None:
        return _appended(text, line, _block({path[0]: {path[1]: entry}}, _column(root)))
    key, servers = member
    if not isinstance(servers, yaml.MappingNode):
        at = _end_of_line(text, _end(key))
        return _inserted(text, at, line, _block({path[1]: entry}, _column(root) + _STEP))
    if servers.flow_style:
        return _in_braces(text, servers, path[1], entry)
    return _in_block(text, line, servers, path[1], entry)


def _composed(text: str) -> yaml.Node | None:
    try:
        return yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError:
        raise UnsupportedShape("it is no YAML") from None


def _in_block(text: str, line: str, servers: yaml.MappingNode, name: str, entry: dict[str, Any]) -> str:
    written = _block({name: entry}, _column(servers))
    if (member := _member(servers, name)) is None:
        return _inserted(text, _end_of_line(text, _end(servers)), line, written)
    start, end = _index(member[0].start_mark), _end(member[1])
    after = text[end:] if text[end - 1] != "\n" else line + text[end:]
    return text[:start] + written.strip(" \n").replace("\n", line) + after


def _in_braces(text: str, servers: yaml.MappingNode, name: str, entry: dict[str, Any]) -> str:
    """An entry within ``{}``, as JSON, which YAML holds."""
    written = json.dumps(entry, ensure_ascii=False)
    if (member := _member(servers, name)) is not None:
        return text[: _index(member[1].start_mark)] + written + text[_end(member[1]) :]
    pairs = cast("list[tuple[yaml.Node, yaml.Node]]", servers.value)
    at = _end(pairs[-1][1]) if pairs else _index(servers.start_mark) + 1
    comma = ", " if pairs else ""
    return text[:at] + comma + f"{json.dumps(name, ensure_ascii=False)}: {written}" + text[at:]


def _member(mapping: yaml.MappingNode, name: str) -> tuple[yaml.Node, yaml.Node] | None:
    pairs = cast("list[tuple[yaml.Node, yaml.Node]]", mapping.value)
    return next((pair for pair in pairs if pair[0].value == name), None)


def _end(node: yaml.Node) -> int:
    """The offset behind the last character of ``node``: a block ends with its last part, before comments."""
    flow = getattr(node, "flow_style", True)
    if isinstance(node, yaml.MappingNode) and not flow and node.value:
        return _end(cast("list[tuple[yaml.Node, yaml.Node]]", node.value)[-1][1])
    if isinstance(node, yaml.SequenceNode) and not flow and node.value:
        return _end(cast("list[yaml.Node]", node.value)[-1])
    return _index(node.end_mark)


def _index(mark: Any) -> int:
    return cast("int", mark.index)


def _column(mapping: yaml.MappingNode) -> int:
    pairs = cast("list[tuple[Any, yaml.Node]]", mapping.value)
    return cast("int", pairs[0][0].start_mark.column) if pairs else 0


def _end_of_line(text: str, at: int) -> int:
    """The offset of the line's end at or after ``at``."""
    if at > 0 and text[at - 1] == "\n":  # a block of text, which ends with its last line
        return at - 1 - (text[at - 2 : at - 1] == "\r")
    found = text.find("\n", at)
    end = len(text) if found < 0 else found
    return end - (text[end - 1 : end] == "\r")


def _inserted(text: str, at: int, line: str, written: str) -> str:
    return text[:at] + line + written.rstrip("\n").replace("\n", line) + (text[at:] or line)


def _appended(text: str, line: str, written: str) -> str:
    ended = text if not text or text.endswith("\n") else text + line
    gap = line if ended.strip("\ufeff \t\r\n") and not ended.endswith(line * 2) else ""
    return ended + gap + written.replace("\n", line)


def _block(data: dict[str, Any], indent: int) -> str:
    return yaml_block(data, indent, escaped=False)
