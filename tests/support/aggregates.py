"""Our server as ``serve --aggregate`` runs it, before real upstreams, and an SDK client connected to it."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, StdioServerParameters
from mcp_types import CallToolResult, ElicitRequestParams, ElicitResult

from tests.support.served import command
from tests.support.waiting import BOUND_S

ERAS = ("legacy", "auto")
"""Modes of the SDK's client: 2025-11-25, and 2026-07-28."""


def own(folder: Path, name: str, *tools: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """A server of ours with ``tools``, as an entry of ``mcpServers``."""
    path = folder / f"{name}.json"
    path.write_text(json.dumps({"name": name, "tools": {"registry": list(tools)}, **more}))
    return {"command": sys.executable, "args": ["-m", "toolspan_server", "--config", str(path)]}


def mock(name: str, answer: Any = "done", **more: Any) -> dict[str, Any]:
    """A tool that answers ``answer``."""
    implementation = {"type": "mock", "mock_response": answer}
    return {"name": name, "description": f"The tool {name}.", "implementation": implementation, **more}


def aggregate(
    folder: Path, servers: Mapping[str, Any], settings: Any = True, *tools: Mapping[str, Any], **more: Any
) -> Path:
    """A config that serves ``servers`` beside ``tools``; each server gets all the time that it needs."""
    if isinstance(settings, dict):
        known = settings.get("servers", {})
        patient = {name: {"connect_seconds": BOUND_S, **known.get(name, {})} for name in servers}
        settings = {**settings, "servers": {**known, **patient}}
    document = {
        "name": "hub",
        "tools": {"registry": list(tools)},
        "mcpServers": servers,
        "limits": {"upstream_connect_seconds": BOUND_S},
        **({} if settings is None else {"aggregate": settings}),
        **more,
    }
    path = folder / "hub.json"
    path.write_text(json.dumps(document))
    return path


@asynccontextmanager
async def connected(
    server: Path | str, *options: str, mode: str = "auto", **callbacks: Any
) -> AsyncGenerator[Client]:
    """A client of the server of a config over stdio, or of one at a URL."""
    where: Any = server
    if isinstance(server, Path):
        [program, *arguments] = command("--config", server, *options)
        where = StdioServerParameters(command=program, args=arguments)
    with anyio.fail_after(BOUND_S):
        async with Client(where, mode=mode, **callbacks) as client:
            yield client


class Person:
    """The person at a client, who gives each question the next of ``actions``; ``asked`` are the messages."""

    def __init__(self, *actions: str, content: Mapping[str, Any] | None = None) -> None:
        self._actions: Sequence[str] = actions
        self._content = content
        self.asked: list[str] = []

    async def __call__(self, _context: Any, params: ElicitRequestParams) -> ElicitResult:
        action: Any = self._actions[len(self.asked)]
        self.asked.append(params.message)
        return ElicitResult(action=action, content=dict(self._content or {}) if action == "accept" else None)


def text(result: CallToolResult) -> str:
    """The first text of a result."""
    block: Any = result.content[0]
    return str(block.text)


def failure(result: CallToolResult) -> dict[str, Any]:
    """The error object of a failed call."""
    assert result.is_error
    found: dict[str, Any] = json.loads(text(result))
    return found


async def names(client: Client) -> list[str]:
    """The names of all tools, page after page."""
    found: list[str] = []
    cursor: str | None = None
    while True:
        page = await client.list_tools(cursor=cursor)
        found += [tool.name for tool in page.tools]
        if not (cursor := page.next_cursor):
            return found
