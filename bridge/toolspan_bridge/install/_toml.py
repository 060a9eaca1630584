"""Editing one table of a TOML text, and nothing else of it."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any, cast

_HEADER = re.compile(r"^[ \t]*\[(?!\[)(?P<key>[^\[\]\r\n]+)\][ \t]*(?:#.*)?$")
_ANY_HEADER = re.compile(r"^[ \t]*\[")
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def table(key: Sequence[str], entry: Mapping[str, Any]) -> str:
    """``entry`` as the table ``key``; objects in it as tables of their own."""
    lines = [f"[{'.'.join(map(_key, key))}]"]
    lines += [
        f"{_key(name)} = {_value(value)}" for name, value in entry.items() if not isinstance(value, dict)
    ]
    text = "\n".join(lines) + "\n"
    inner = {name: cast("dict[str, Any]", value) for name, value in entry.items() if isinstance(value, dict)}
    return text + "".join("\n" + table([*key, name], value) for name, value in inner.items())


def with_entry(text: str, path: tuple[str, str], entry: dict[str, Any]) -> str:
    """``text`` with the table ``path``. Raises ``tomllib.TOMLDecodeError``.

    Tables that are written in another way are not found; the caller looks at what came out.
    """
    if load(text).get(path[0], {}).get(path[1]) == entry:
        return text
    before, after = _around(text, path)
    written = table(path, entry)
    if "\r\n" in text:
        written = written.replace("\n", "\r\n")
    gap = "" if not before.strip() else ("\n" if before.endswith(("\n\n", "\r\n\r\n")) else "\n\n")
    if before.endswith("\n") and gap:
        gap = gap[1:]
    return before + gap + written + ("\n" + after if after.strip() else after)


def without_entry(text: str, path: tuple[str, str]) -> str:
    """``text`` without the table ``path``. Raises as ``with_entry``."""
    if path[1] not in load(text).get(path[0], {}):
        return text
    before, after = _around(text, path)
    return before.rstrip("\r\n") + ("\n" if before.strip() else "") + after


def load(text: str) -> dict[str, Any]:
    """What ``text`` says. Raises ``tomllib.TOMLDecodeError``."""
    return tomllib.loads(text.removeprefix("\ufeff").replace("\r\n", "\n"))


def _around(text: str, path: tuple[str, str]) -> tuple[str, str]:
    """What stands before the table and after it; all of the text before one that is not there."""
    lines = text.splitlines(keepends=True)
    own = [index for index, line in enumerate(lines) if _is_of(line, path)]
    if not own:
        return text, ""
    headers = [index for index, line in enumerate(lines) if _ANY_HEADER.match(line)]
    first = own[0]
    last = next((index for index in headers if index > first and index not in own), len(lines))
    while last < len(lines) and last > first + 1 and lines[last - 1].lstrip().startswith("#"):
        last -= 1  # comments above a table are the next one's
    return "".join(lines[:first]), "".join(lines[last:])


def _is_of(line: str, path: tuple[str, str]) -> bool:
    match = _HEADER.match(line.rstrip("\r\n"))
    if match is None:
        return False
    try:
        found: Any = tomllib.loads(f"{match['key']}.x = 1\n")
    except tomllib.TOMLDecodeError:
        return False
    return isinstance(found.get(path[0]), dict) and path[1] in found[path[0]]


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def _value(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_text, cast("list[str]", value))) + "]"
    return _text(value)


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
