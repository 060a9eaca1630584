"""The lock file: the definitions of every server's tools as somebody accepted them, beside the config.

    {"toolspan_lock": 1,
     "servers": {SERVER: {TOOL: {"annotations": {…}, "description": [LINE, …], "schema": {…}}}}}

Sorted and indented, a line of a description a line of the file, so that a change shows as what it is where
files are compared.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from toolspan_server.common.visible import visible_json
from toolspan_server.engines.definitions import (
    LOCK_FILE,
    LOCK_MARK,
    LOCK_VERSION,
    LockedDefinitions,
    locked_definitions,
)

from ..errors import UsageError
from ..files.replacement import place_within, replace_file, why_not_written

__all__ = ["LOCK_FILE", "Definitions", "read_lock", "write_lock"]

_MODE = 0o644

Definitions = LockedDefinitions
"""Definitions, as ``definition_of`` gives them, by server and tool."""


def read_lock(path: Path) -> Definitions | None:
    """The definitions in the file; ``None`` where there is no file.

    Raises ``UsageError`` when it is none that can be read: what is locked is never taken for unlocked.
    """
    try:
        return locked_definitions(path)
    except ValueError as error:
        remedy = "bring back the file, or write it anew with toolspan lock"
        raise UsageError(f"{path}: {error} ({remedy})") from None


def write_lock(path: Path, definitions: Definitions) -> None:
    """Put ``definitions`` into the file in one step; through a link that stays in the folder, into what it
    leads to.

    Raises ``UsageError`` when it cannot be written.
    """
    servers = {
        server: {name: _written(definition) for name, definition in tools.items()}
        for server, tools in definitions.items()
    }
    whole = {LOCK_MARK: LOCK_VERSION, "servers": servers}
    text = visible_json(json.dumps(whole, indent=1, sort_keys=True, ensure_ascii=False))
    try:
        replace_file(place_within(path.parent, path.absolute()), f"{text}\n".encode(), mode=_MODE)
    except OSError as error:
        raise UsageError(f"{path} {why_not_written(error)}") from None


def _written(definition: Mapping[str, Any]) -> dict[str, Any]:
    parts = {key: value for key, value in definition.items() if key != "name"}
    return {**parts, "description": str(definition["description"]).split("\n")}
