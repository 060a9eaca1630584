"""Editing one entry of a JSON text, and nothing else of it: comments and layout stay."""

from __future__ import annotations

import json
import re
from typing import Any, cast

from ._jsonc import Member, Value, parsed

_INDENT = re.compile(r"(?:^|\n)([ \t]+)\S")
_REST_OF_LINE = re.compile(r"[ \t]*(?://[^\r\n]*|/\*[^\r\n]*?\*/[ \t]*(?=[\r\n]))?")


class UnsupportedShape(ValueError):
    """The text is good, but not of the shape that can be edited."""


def with_entry(text: str, path: tuple[str, str], entry: dict[str, Any]) -> str:
    """``text`` with ``entry`` at ``path``. Raises ``InvalidJson`` and ``UnsupportedShape``."""
    if not text.strip("\ufeff \t\r\n"):
        return json.dumps({path[0]: {path[1]: entry}}, ensure_ascii=False, indent=2) + "\n"
    root = parsed(text)
    members = _object(root, "the file")
    if path[0] not in members:
        return _inserted(text, root, 1, path[0], {path[1]: entry})
    servers = members[path[0]].value
    known = _object(servers, f"{path[0]!r}").get(path[1])
    if known is None:
        return _inserted(text, servers, 2, path[1], entry)
    if known.value.data == entry:
        return text
    written = _written(text, entry, 2)
    return text[: known.value.start] + written + text[known.value.end :]


def without_entry(text: str, path: tuple[str, str]) -> str:
    """``text`` without what is at ``path``. Raises ``InvalidJson`` and ``UnsupportedShape``."""
    if not text.strip("\ufeff \t\r\n"):
        return text
    root = parsed(text)
    servers = _object(root, "the file").get(path[0])
    if servers is None or path[1] not in _object(servers.value, f"{path[0]!r}"):
        return text
    members = _object(servers.value, "")
    return _cut(text, servers.value, members[path[1]])


def load(text: str) -> dict[str, Any]:
    """The data in ``text``. Raises ``InvalidJson`` and ``UnsupportedShape``."""
    if not text.strip("\ufeff \t\r\n"):
        return {}
    root = parsed(text)
    _object(root, "the file")
    return cast("dict[str, Any]", root.data)


def _object(value: Value, what: str) -> dict[str, Member]:
    if value.members is None:
        raise UnsupportedShape(f"{what} holds no object")
    return value.members


def _inserted(text: str, within: Value, depth: int, name: str, data: Any) -> str:
    """``text`` with another member at the end of the object ``within``."""
    line = _newline(text)
    indent = _indent(text)
    member = f"{json.dumps(name, ensure_ascii=False)}: {_written(text, data, depth)}"
    if not within.order:
        inside = f"{line}{indent * depth}{member}{line}{indent * (depth - 1)}"
        return text[: within.start + 1] + inside + text[within.end - 1 :]
    last = within.order[-1]
    if last.comma is None:
        text = text[: last.value.end] + "," + text[last.value.end :]
    else:
        member += ","
    after = (last.comma or last.value.end) + 1
    rest = _REST_OF_LINE.match(text, after)
    after = after if rest is None else rest.end()
    return text[:after] + f"{line}{indent * depth}{member}" + text[after:]


def _cut(text: str, within: Value, member: Member) -> str:
    """``text`` without ``member`` of ``within`` and the comma that it no longer needs; comments stay."""
    place = next(index for index, each in enumerate(within.order) if each is member)
    end = member.value.end if member.comma is None else member.comma + 1
    if place + 1 < len(within.order):
        return text[: member.start] + text[end:].lstrip(" \t\r\n")
    if place == 0:
        rest = text[within.start + 1 : member.start] + text[end : within.end - 1]
        return text[: within.start + 1] + (rest if rest.strip() else "") + text[within.end - 1 :]
    comma = within.order[place - 1].comma
    assert comma is not None
    between = text[comma + 1 : member.start].rstrip()
    return text[:comma] + ("" if member.comma is None else ",") + between + text[end:]


def _written(text: str, data: Any, depth: int) -> str:
    indent = _indent(text)
    lines = json.dumps(data, ensure_ascii=False, indent=indent).split("\n")
    return (_newline(text) + indent * depth).join(lines)


def _indent(text: str) -> str:
    match = _INDENT.search(text.replace("\r", ""))
    return match.group(1) if match else "  "


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
