"""A client's file before and after the change."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import unified_diff
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, cast

from toolspan_server.common.regular_files import open_regular
from toolspan_server.config import secret_pattern

from ....errors import UsageError
from . import _json, _toml
from ._entries import ServerEntry, entry, snippet
from ._jsonc import InvalidJson
from .clients import Client

_SHOWN = 200
_STARTS = ("command", "url", "serverUrl", "httpUrl")
_MOST_BYTES = 32 * 1024 * 1024
Action = Literal["added", "changed", "removed", "unchanged"]


@dataclass(frozen=True, slots=True)
class FileChange:
    """The file at ``path``: its text ``before`` (``None``: it is not there) and ``after``. ``hidden`` are the
    values of variables and headers in both, which nobody is shown. ``replaced`` is the command line or URL
    of another server that has the name so far; empty if there is none."""

    path: Path
    before: str | None
    after: str
    action: Action
    hidden: frozenset[str] = frozenset()
    replaced: str = ""

    def diff(self) -> str:
        """What changes, as a unified diff, with ``***`` for what is ``hidden``."""
        old = (self.before or "").splitlines(keepends=True)
        new = self.after.splitlines(keepends=True)
        lines = unified_diff(old, new, str(self.path), str(self.path))
        return _masked("".join(line if line.endswith("\n") else line + "\n" for line in lines), self.hidden)


def planned(client: Client, path: Path, name: str, server: ServerEntry | None) -> FileChange:
    """The change that writes ``server`` as ``name``, or, without one, takes ``name`` out.

    Raises ``UsageError`` for a file that cannot be read, or edited without touching what is not ours.
    """
    before = _read(path)
    wanted = None if server is None else entry(client, server)
    edit = _toml if client.toml else _json
    try:
        known = edit.load(before or "")
        expected = _with(known, client.key, name, wanted)
        if wanted is None:
            after = edit.without_entry(before or "", (client.key, name))
        else:
            after = edit.with_entry(before or "", (client.key, name), wanted)
        _check(edit, after, expected)
    except (InvalidJson, tomllib.TOMLDecodeError) as fault:
        raise UsageError(
            f"{path}{_where(before or '', fault)} (mend it first; nothing was changed)"
        ) from None
    except _json.UnsupportedShape as fault:
        raise UsageError(f"{path}: {fault}; nothing was changed.{_by_hand(client, name, server)}") from None
    hidden = _values(client, known) | _values(client, expected)
    so_far = known.get(client.key, {}).get(name)
    replaced = _masked(_foreign(so_far, wanted), hidden)
    return FileChange(path, before, after, _action(so_far, wanted), hidden, replaced)


def _foreign(so_far: Any, wanted: Mapping[str, Any] | None) -> str:
    """What starts or reaches ``so_far`` where ``wanted`` is another server, and not the same one anew."""
    if so_far is None or wanted is None:
        return ""
    old, new = _server(so_far), _server(wanted)
    same = old == new or (len(old) > 1 and old[1:] == new[1:] and _is_ours(old[0]) and _is_ours(new[0]))
    return "" if same else (" ".join(old)[:_SHOWN] or "something else")


def _server(entry: Any) -> list[str]:
    """The command line, or the URL, of an entry in any client's words."""
    fields = cast("dict[str, Any]", entry) if isinstance(entry, dict) else {}
    start = next((fields[key] for key in _STARTS if isinstance(fields.get(key), str)), "")
    arguments: Any = fields.get("args", ())
    rest = cast("Iterable[Any]", arguments) if isinstance(arguments, list | tuple) else ()
    return [str(word) for word in (start, *rest) if word != ""]


def _is_ours(program: str) -> bool:
    return Path(program).stem == "toolspan-server"


def _values(client: Client, data: Mapping[str, Any]) -> frozenset[str]:
    """The values of every server's variables and headers."""
    servers = _objects(data.get(client.key))
    parts = [part for server in servers for part in (server.get("env"), server.get(client.headers))]
    found = [cast("dict[str, Any]", part) for part in parts if isinstance(part, dict)]
    return frozenset(str(value) for part in found for value in part.values() if value)


def _objects(value: Any) -> list[dict[str, Any]]:
    servers: Iterable[Any] = cast("dict[str, Any]", value).values() if isinstance(value, dict) else ()
    return [server for server in servers if isinstance(server, dict)]


def _masked(text: str, hidden: Iterable[str]) -> str:
    """``text`` with ``***`` for each value, however its file spells it; a short one only in quotes."""
    for value in hidden:
        text = text.replace(json.dumps(value, ensure_ascii=False), '"***"').replace(
            json.dumps(value), '"***"'
        )
    found = secret_pattern(hidden)
    return text if found is None else found.sub("***", text)


def _action(known: Any, wanted: Any) -> Action:
    if known == wanted:
        return "unchanged"
    if wanted is None:
        return "removed"
    return "added" if known is None else "changed"


def _with(known: Mapping[str, Any], key: str, name: str, wanted: Any) -> dict[str, Any]:
    """The file's new text: the old one, but for one entry."""
    servers: Any = known.get(key, {})
    if not isinstance(servers, dict):
        raise _json.UnsupportedShape(f"{key!r} holds no object")
    others = {each: value for each, value in cast("dict[str, Any]", servers).items() if each != name}
    return {**known, key: others if wanted is None else {**others, name: wanted}}


def _check(edit: ModuleType, text: str, expected: dict[str, Any]) -> None:
    """Whether ``text`` has the expected data: unusual syntax of a file may defeat the editing."""
    try:
        found = edit.load(text)
    except ValueError:
        found = None
    if found is None or _filled(found) != _filled(expected):
        raise _json.UnsupportedShape("it is written in a way that cannot be edited safely")


def _filled(data: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in data.items() if value != {}}


def _read(path: Path) -> str | None:
    try:
        with open_regular(path) as file:
            data = file.read(_MOST_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as fault:
        raise UsageError(f"{path} cannot be read: {fault.strerror}") from None
    if len(data) > _MOST_BYTES:
        raise UsageError(f"{path} has more than {_MOST_BYTES:,} bytes")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as fault:
        raise UsageError(f"{path} is no UTF-8 text (byte {fault.start})") from None


def _where(text: str, fault: ValueError) -> str:
    if not isinstance(fault, InvalidJson):
        return f": {fault}"
    line = text.count("\n", 0, fault.offset) + 1
    column = fault.offset - (text.rfind("\n", 0, fault.offset) + 1) + 1
    return f":{line}:{column}: {fault}"


def _by_hand(client: Client, name: str, server: ServerEntry | None) -> str:
    if server is None:
        return ""
    shown = replace(
        server, env=dict.fromkeys(server.env, "***"), headers=dict.fromkeys(server.headers, "***")
    )
    return f" To add it by hand:\n{snippet(client, name, shown)}"
