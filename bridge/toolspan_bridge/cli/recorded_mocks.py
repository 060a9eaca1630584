"""A config of mocks: a new one, or one in which the tools of another are mocks."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from toolspan_server.common.regular_files import read_regular
from toolspan_server.config import ConfigError, load_config
from toolspan_server.schema.positions import SIZE_LIMIT, parse_document

from ..errors import UsageError
from ..files.yaml_text import block, with_escapes
from ..providers.wire.json_types import is_object
from ..validation.recording import Recorded
from ..validation.recording.mocks import Mocks, mocks_of

__all__ = ["mocks_config", "served_recording"]

_FILE = "toolspan.yaml"


def mocks_config(mocks: Mocks, config: Path | None = None) -> tuple[str, tuple[str, ...]]:
    """A config with ``mocks``, as YAML, and what could not be put into it; the tools of ``config`` keep their
    definitions. Raises ``UsageError`` where ``config`` cannot be read, or no mock is left."""
    notes: list[str] = []
    usable: dict[tuple[str, str], dict[str, Any]] = {}
    for key, tool in mocks.tools.items():
        if fault := _fault(tool):
            notes.append(f"{key[0]}/{key[1]}: {fault}")
        else:
            usable[key] = tool
    if not usable:
        raise UsageError(
            "nothing in the recording can be turned into a mock: " + "; ".join((*mocks.left, *notes))
        )
    data = {"tools": {"registry": [with_escapes(tool) for tool in usable.values()]}}
    if config is not None:
        data = _with_mocks(_read(config), usable)
    return block(data, 0, escaped=False), tuple(notes)


@contextmanager
def served_recording(recording: Path) -> Generator[Path]:
    """The file of a config that serves every tool of ``recording`` with the recorded results, as long as the
    block lasts. Raises ``UsageError``."""
    text, _ = mocks_config(mocks_of(Recorded.read(recording), all_tools=True))
    with TemporaryDirectory(prefix="toolspan-") as folder:
        path = Path(folder) / _FILE
        path.touch(mode=0o600)
        path.write_text(text, "utf-8")
        yield path


def _read(config: Path) -> dict[str, Any]:
    try:
        data: Any = parse_document(read_regular(config, SIZE_LIMIT).decode("utf-8"), str(config)).data
    except OSError as error:
        raise UsageError(f"{config}: cannot be read: {error.strerror}") from None
    if not isinstance(data, dict):
        raise UsageError(f"{config}: is no config")
    return cast("dict[str, Any]", data)


def _with_mocks(data: dict[str, Any], mocks: dict[tuple[str, str], dict[str, Any]]) -> dict[str, Any]:
    """``data`` with the implementations of ``mocks``; tools that it does not have are added, and the servers
    that they were of are disabled."""
    tools: dict[str, Any] = dict(data.get("tools") or {})
    registry: list[Any] = list(tools.get("registry") or [])
    by_name = {name: (server, tool) for (server, name), tool in mocks.items()}
    own = {str(entry.get("name")) for entry in registry if is_object(entry)}
    for place, entry in enumerate(registry):
        if is_object(entry) and entry.get("name") in by_name:
            tool = by_name[entry["name"]][1]
            registry[place] = {**entry, "implementation": with_escapes(tool["implementation"])}
    added = {name: found for name, found in by_name.items() if name not in own}
    registry += [with_escapes(tool) for _, tool in added.values()]
    whole = {**data, "tools": {**tools, "registry": registry}}
    gone = {server for server, _ in added.values()}
    for key in ("mcpServers", "mcp_servers", "servers"):
        if isinstance(servers := data.get(key), dict):
            entries = cast("dict[str, Any]", servers)
            whole[key] = {
                name: {**entry, "disabled": True} if name in gone else entry
                for name, entry in entries.items()
            }
    return whole


def _fault(tool: dict[str, Any]) -> str:
    """Why a config does not take ``tool``; empty where it does."""
    with TemporaryDirectory(prefix="toolspan-") as folder:
        path = Path(folder) / _FILE
        path.write_text(block({"tools": {"registry": [tool]}}, 0), "utf-8")
        try:
            load_config(path, environ={})
        except ConfigError as error:
            return error.problems[0].message if error.problems else str(error)
    return ""
