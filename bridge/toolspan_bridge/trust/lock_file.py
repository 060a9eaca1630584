"""The lock file: the definitions of every server's tools as somebody accepted them, beside the config.

    {"toolspan_lock": 1,
     "servers": {SERVER: {TOOL: {"annotations": {…}, "description": [LINE, …], "schema": {…}}}}}

Sorted and indented, a line of a description a line of the file, so that a change shows as what it is where
files are compared.
"""

from __future__ import annotations

import json
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from toolspan_server.common.visible import visible_json

from ..errors import UsageError
from ..files.replacement import replace_file, why_not_written

LOCK_FILE = "toolspan.lock"
_MARK, _VERSION = "toolspan_lock", 1
_MAX_BYTES = 64 * 1024 * 1024
_MODE = 0o644

Definitions = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""Definitions, as ``definition_of`` gives them, by server and tool."""


def read_lock(path: Path) -> Definitions | None:
    """The definitions in the file; ``None`` where there is no file.

    Raises ``UsageError`` when it is none that can be read: what is locked is never taken for unlocked.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise _unusable(path, "it is no regular file")
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
        if len(data) > _MAX_BYTES:
            raise _unusable(path, f"it is larger than {_MAX_BYTES // 1024**2} MiB")
        whole: Any = json.loads(data)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unusable(path, f"it cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise _unusable(path, f"it is not JSON: {error}") from None
    return _definitions(path, whole)


def write_lock(path: Path, definitions: Definitions) -> None:
    """Put ``definitions`` into the file in one step; through a link, into what it leads to.

    Raises ``UsageError`` when it cannot be written.
    """
    servers = {
        server: {name: _written(definition) for name, definition in tools.items()}
        for server, tools in definitions.items()
    }
    whole = {_MARK: _VERSION, "servers": servers}
    text = visible_json(json.dumps(whole, indent=1, sort_keys=True, ensure_ascii=False))
    try:
        replace_file(path.resolve(), f"{text}\n".encode(), mode=_MODE)
    except OSError as error:
        raise UsageError(f"{path} {why_not_written(error)}") from None


def _written(definition: Mapping[str, Any]) -> dict[str, Any]:
    parts = {key: value for key, value in definition.items() if key != "name"}
    return {**parts, "description": str(definition["description"]).split("\n")}


def _definitions(path: Path, whole: Any) -> Definitions:
    document = _object(path, whole, "$")
    if document.get(_MARK) != _VERSION:
        raise _unusable(path, f'"{_MARK}" is not {_VERSION}: another version of toolspan wrote it, or none')
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for server, tools in _object(path, document.get("servers"), "$.servers").items():
        place = f"$.servers.{server}"
        found[server] = {
            name: _read(path, f"{place}.{name}", name, _object(path, tool, f"{place}.{name}"))
            for name, tool in _object(path, tools, place).items()
        }
    return found


def _read(path: Path, place: str, name: str, tool: Mapping[str, Any]) -> dict[str, Any]:
    lines = tool.get("description")
    words = cast("list[object]", lines) if isinstance(lines, list) else [None]
    if not all(isinstance(line, str) for line in words):
        raise _unusable(path, f"{place}.description is no list of lines")
    return {
        "name": name,
        "description": "\n".join(map(str, words)),
        "schema": _object(path, tool.get("schema"), f"{place}.schema"),
        "annotations": _object(path, tool.get("annotations"), f"{place}.annotations"),
    }


def _object(path: Path, value: Any, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _unusable(path, f"{place} is no object")
    return cast("dict[str, Any]", value)


def _unusable(path: Path, why: str) -> UsageError:
    return UsageError(f"{path}: {why} (bring back the file, or write it anew with toolspan lock)")
