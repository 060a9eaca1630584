"""Servers written into a config file, and nothing else of it changed: comments and layout stay."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

from toolspan_server.errors import ConfigError
from toolspan_server.schema.positions import parse_document

from ....errors import UsageError
from ..install import FileChange
from ..install._changes import Action
from ..install._json import UnsupportedShape
from ..install._json import with_entry as with_json_entry
from ..install._jsonc import InvalidJson
from . import _yaml_edit

_KEYS = ("mcpServers", "mcp_servers", "servers")
_MOST_BYTES = 4 * 1024 * 1024
_WithEntry = Callable[[str, tuple[str, str], dict[str, Any]], str]


def configured_servers(path: Path) -> dict[str, Any]:
    """The servers of the config at ``path`` by name, as they are written there. Raises ``UsageError``."""
    text = _text(path)
    return {} if text is None else dict(_servers(_data(text, path))[1])


def planned_import(path: Path, servers: Mapping[str, Mapping[str, Any]]) -> FileChange:
    """The change that writes ``servers`` under ``mcpServers`` of the config at ``path``, a YAML or JSON file
    that need not exist; one of the same name is replaced.

    Raises ``UsageError`` for a file that cannot be read, or edited without touching what is not ours.
    """
    before = _text(path)
    text = before or ""
    data = _data(text, path)
    key, known = _servers(data)
    edit: _WithEntry = _yaml_edit.with_entry if _is_yaml(path, text) else with_json_entry
    try:
        for name, entry in servers.items():
            text = edit(text, (key, name), dict(entry))
    except (InvalidJson, UnsupportedShape) as fault:
        raise _uneditable(path, str(fault)) from None
    expected = {**data, key: {**known, **{name: dict(entry) for name, entry in servers.items()}}}
    if _edited_data(text, path) != expected:
        raise _uneditable(path, "it is written in a way that cannot be edited safely")
    action: Action = "changed" if any(name in known for name in servers) else "added"
    return FileChange(path, before, text, action, _hidden([*known.values(), *servers.values()]))


def _uneditable(path: Path, why: str) -> UsageError:
    return UsageError(f"{path}: {why}; nothing was changed (name another file with --to)")


def _hidden(entries: list[Any]) -> frozenset[str]:
    """The values of variables and headers that a change does not show: all but references to variables."""
    pairs = [
        cast("dict[str, Any]", part)
        for entry in entries
        if isinstance(entry, dict)
        for part in (cast("dict[str, Any]", entry).get("env"), cast("dict[str, Any]", entry).get("headers"))
        if isinstance(part, dict)
    ]
    values = {str(value) for part in pairs for value in part.values() if value}
    return frozenset(value for value in values if "${" not in value)


def _text(path: Path) -> str | None:
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise UsageError(f"{path} has more than {_MOST_BYTES:,} bytes: no config is that large")
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except OSError as fault:
        raise UsageError(f"{path} cannot be read: {fault.strerror}") from None
    except UnicodeDecodeError as fault:
        raise UsageError(f"{path} is no UTF-8 text (byte {fault.start})") from None


def _is_yaml(path: Path, text: str) -> bool:
    if path.suffix in (".yaml", ".yml", ".json"):
        return path.suffix != ".json"
    return not text.lstrip("\ufeff \t\r\n").startswith("{")


def _edited_data(text: str, path: Path) -> Any:
    """The data of a text that was edited; ``None`` when it is broken now."""
    try:
        return parse_document(text, str(path)).data
    except ConfigError:
        return None


def _data(text: str, path: Path) -> dict[str, Any]:
    """The data of a config's text. Raises ``UsageError``."""
    if not _has_data(text, path):
        return {}
    try:
        found = parse_document(text, str(path))
    except ConfigError as fault:
        raise UsageError(f"{fault} (mend it first; nothing was changed)") from None
    if found.faults:
        raise UsageError(f"{found.problem(found.faults[0])} (mend it first; nothing was changed)")
    data = found.data
    if not isinstance(data, dict):
        raise UsageError(f"{path} is no config: it holds no object")
    return cast("dict[str, Any]", data)


def _has_data(text: str, path: Path) -> bool:
    """Whether there is more in ``text`` than blanks and comments."""
    if not _is_yaml(path, text):
        return bool(text.strip("\ufeff \t\r\n"))
    lines = (line.strip("\ufeff \t\r") for line in text.splitlines())
    return any(line and not line.startswith("#") for line in lines)


def _servers(data: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The key of a config's servers, and the servers."""
    for key in _KEYS:
        if key in data:
            found: Any = data[key]
            if found is not None and not isinstance(found, dict):
                raise UsageError(f"{key} of the config is no object of servers")
            return key, cast("dict[str, Any]", found or {})
    return _KEYS[0], {}
