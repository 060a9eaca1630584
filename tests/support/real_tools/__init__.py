"""The tools of public MCP servers as they listed them: a file each, with the package, version and licence.

Descriptions are cut at 200 characters. ``python -m tests.support.real_tools`` writes ``losses/`` anew: what
each format loses of all of them, to be read before it is kept.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from toolspan_bridge.formats import format_names, get_format
from toolspan_bridge.formats.names import NameTable
from toolspan_bridge.messages import ToolSpec

FOLDER = Path(__file__).parent


@cache
def servers() -> dict[str, tuple[ToolSpec, ...]]:
    """Each server's tools."""
    found: dict[str, tuple[ToolSpec, ...]] = {}
    for path in sorted(FOLDER.glob("*.json")):
        tools = json.loads(path.read_text("utf-8"))["tools"]
        found[path.stem] = tuple(
            ToolSpec(path.stem, tool["name"], tool["description"], tool["inputSchema"]) for tool in tools
        )
    return found


def every_tool() -> tuple[ToolSpec, ...]:
    return tuple(tool for tools in servers().values() for tool in tools)


def losses(format_name: str) -> str:
    """What the format loses of the servers' tools, each server for itself, a line a loss."""
    lines: list[str] = []
    for tools in servers().values():
        keys = NameTable.of(tools).as_dict()
        for loss in get_format(format_name).losses(tools):
            where = "/".join(keys[loss.tool])
            lines.append(f"{loss.severity} {loss.rule} {where} {loss.pointer or '-'}: {loss.repair}")
    return "".join(f"{line}\n" for line in sorted(lines))


def snapshot(format_name: str) -> Path:
    return FOLDER / "losses" / f"{format_name}.txt"


def write() -> None:
    """Keep what each format loses now."""
    for name in format_names():
        snapshot(name).parent.mkdir(exist_ok=True)
        snapshot(name).write_text(losses(name), "utf-8")
