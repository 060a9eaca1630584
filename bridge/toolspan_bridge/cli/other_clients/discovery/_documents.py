"""Files of other clients, read: JSON with comments, TOML and YAML, within limits."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from ..install._jsonc import InvalidJson, parsed

MOST_BYTES = 32 * 1024 * 1024
"""The largest file of a client that is read, in bytes."""


class Unreadable(Exception):
    """A file cannot be read, or is not what its ending says. The message says why."""


def document(path: Path) -> Any:
    """The data in the file at ``path``. ``None`` when there is no such file, or nothing in it. Raises
    ``Unreadable``."""
    text = _text(path)
    if text is None or not text.strip("\ufeff \t\r\n"):
        return None
    try:
        if path.suffix == ".toml":
            return tomllib.loads(text.removeprefix("\ufeff").replace("\r\n", "\n"))
        return _yaml(text) if path.suffix in (".yaml", ".yml") else _json(text)
    except RecursionError:
        raise Unreadable("it is nested too deep") from None
    except InvalidJson as fault:
        raise Unreadable(f"not JSON: line {text.count(chr(10), 0, fault.offset) + 1}: {fault}") from None
    except tomllib.TOMLDecodeError as fault:
        raise Unreadable(f"not TOML: {fault}") from None


def _text(path: Path) -> str | None:
    try:
        if path.exists() and not path.is_file():
            raise Unreadable("it is no regular file")
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as fault:
        raise Unreadable(f"it cannot be read: {fault.strerror}") from None
    if len(data) > MOST_BYTES:
        raise Unreadable(f"it has more than {MOST_BYTES:,} bytes")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as fault:
        raise Unreadable(f"it is no UTF-8 text (byte {fault.start})") from None


def _json(text: str) -> Any:
    try:
        return json.loads(text.removeprefix("\ufeff"))
    except ValueError:
        return parsed(text).data  # with comments, as some clients allow; and with a position if it is broken


def _yaml(text: str) -> Any:
    from toolspan_server.schema.syntax_trees import SyntaxFault
    from toolspan_server.schema.yaml_text import read_yaml

    try:
        return read_yaml(text)[0]
    except SyntaxFault as fault:
        where = text.count("\n", 0, fault.offset) + 1
        raise Unreadable(f"not YAML: line {where}: {fault.message}") from None


def section(data: Any, keys: tuple[str, ...]) -> dict[str, Any]:
    """The servers under ``keys`` of ``data`` by name; empty where there are none. Raises ``Unreadable``."""
    for key in keys:
        if data is None:
            return {}
        if not isinstance(data, dict):
            raise Unreadable(f"no object is where {'.'.join(keys)} should be")
        data = cast("dict[str, Any]", data).get(key)
    if isinstance(data, list):
        return dict(_named(cast("Sequence[Any]", data)))
    if data is not None and not isinstance(data, dict):
        raise Unreadable(f"{'.'.join(keys)} is no object")
    return cast("dict[str, Any]", data or {})


def _named(entries: Sequence[Any]) -> list[tuple[str, Any]]:
    """The entries of a list by their names; one without is called by its place."""
    named: list[tuple[str, Any]] = []
    for index, entry in enumerate(entries):
        name = cast("dict[str, Any]", entry).get("name") if isinstance(entry, dict) else None
        known = name if isinstance(name, str) and name else f"server-{index + 1}"
        named.append((known, cast("Any", entry)))
    return named
