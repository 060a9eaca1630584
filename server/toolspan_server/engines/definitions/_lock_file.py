"""``toolspan.lock``, read: the definitions of servers' tools as somebody accepted them.

{"toolspan_lock": 1,
 "servers": {SERVER: {TOOL: {"annotations": {…}, "description": [LINE, …], "schema": {…}}}}}
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

from ...common.regular_files import NotRegularError, open_regular

LOCK_FILE = "toolspan.lock"
LOCK_MARK, LOCK_VERSION = "toolspan_lock", 1
_MAX_BYTES = 64 * 1024 * 1024

LockedDefinitions = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""Definitions (``{"name", "description", "schema", "annotations"}``) by server and tool."""


def locked_definitions(path: Path) -> LockedDefinitions | None:
    """The definitions in the file; ``None`` where there is no file. Raises ``ValueError``, which says why it
    cannot be read."""
    try:
        with open_regular(path) as file:
            data = file.read(_MAX_BYTES + 1)
    except FileNotFoundError:
        return None
    except NotRegularError:
        raise ValueError("it is no regular file") from None
    except OSError as error:
        raise ValueError(f"it cannot be read: {error.strerror or error}") from None
    if len(data) > _MAX_BYTES:
        raise ValueError(f"it is larger than {_MAX_BYTES // 1024**2} MiB")
    try:
        whole: Any = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"it is not JSON: {error}") from None
    return _definitions(whole)


def digest_of(definition: Mapping[str, Any]) -> str:
    """The SHA-256 of a definition, whatever the order of its keys."""
    written = json.dumps(definition, sort_keys=True, separators=(",", ":"))
    return sha256(written.encode()).hexdigest()


def _definitions(whole: Any) -> LockedDefinitions:
    document = _object(whole, "$")
    if document.get(LOCK_MARK) != LOCK_VERSION:
        raise ValueError(
            f'"{LOCK_MARK}" is not {LOCK_VERSION}: another version of toolspan wrote it, or none'
        )
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for server, tools in _object(document.get("servers"), "$.servers").items():
        place = f"$.servers.{server}"
        found[server] = {
            name: _read(f"{place}.{name}", name, _object(tool, f"{place}.{name}"))
            for name, tool in _object(tools, place).items()
        }
    return found


def _read(place: str, name: str, tool: Mapping[str, Any]) -> dict[str, Any]:
    lines = tool.get("description")
    words = cast("list[object]", lines) if isinstance(lines, list) else [None]
    if not all(isinstance(line, str) for line in words):
        raise ValueError(f"{place}.description is no list of lines")
    return {
        "name": name,
        "description": "\n".join(map(str, words)),
        "schema": _object(tool.get("schema"), f"{place}.schema"),
        "annotations": _object(tool.get("annotations"), f"{place}.annotations"),
    }


def _object(value: Any, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{place} is no object")
    return cast("dict[str, Any]", value)
