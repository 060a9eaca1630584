"""Each tool of a workspace, used over MCP by a client that others wrote: the official Python SDK's."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.support.loopback_web import web
from tests.support.waiting import BOUND_S

pytestmark = [pytest.mark.long, pytest.mark.anyio, pytest.mark.requirement("I12.7.3")]
CELL = {"cell_type": "code", "id": "one", "metadata": {}, "source": "1", "outputs": []}
NOTEBOOK = {
    "cells": [{**CELL, "execution_count": None}],
    "metadata": {},
    "nbformat": 4,
    "nbformat_minor": 5,
}


class Peer:
    """The SDK's client of a workspace's server. ``used`` are the tools called, ``asked`` the questions."""

    def __init__(self, client: Any, asked: list[str]) -> None:
        self._client = client
        self.asked = asked
        self.used: set[str] = set()

    async def tools(self) -> set[str]:
        return {tool.name for tool in (await self._client.list_tools()).tools}

    async def call(self, name: str, **arguments: Any) -> str:
        """The text of a call that succeeds."""
        self.used.add(name)
        result = await self._client.call_tool(name, arguments)
        text = "".join(getattr(block, "text", "") for block in result.content)
        assert not result.is_error, f"{name}: {text}"
        return text


@asynccontextmanager
async def connected(folder: Path, address: str, mode: str) -> AsyncIterator[Peer]:
    from mcp.client.client import Client
    from mcp.client.stdio import StdioServerParameters
    from mcp_types import (
        CreateMessageResult,
        CreateMessageResultWithTools,
        ElicitResult,
        SamplingCapability,
        SamplingToolsCapability,
        TextContent,
        ToolUseContent,
    )

    workspace = {
        "path": str(folder),
        "web_fetch": {"allow_private": ["127.0.0.1"]},
        "web_search": {"type": "searxng", "url": address},
    }
    config = folder.parent / "toolspan.json"
    source = {"type": "workspace", "workspace": "main"}
    config.write_text(
        json.dumps({"services": {"workspaces": {"main": workspace}}, "tools": {"sources": [source]}})
    )
    asked: list[str] = []

    async def answer(_context: Any, params: Any) -> Any:
        asked.append(params.message)
        schema = getattr(params, "requested_schema", None) or {}
        return ElicitResult(action="accept", content=first_choices(schema))

    async def sample(_context: Any, params: Any) -> Any:
        """Of a sub-agent, reads a file first, and then says what it holds."""
        if params.tools and len(params.messages) == 1:
            use = ToolUseContent(id="1", name="Read", input={"file_path": "a.py"})
            return CreateMessageResultWithTools(
                role="assistant", content=[use], model="m", stop_reason="toolUse"
            )
        said = params.messages[-1].content_as_list[0].content[0].text if params.tools else "sampled"
        text = TextContent(type="text", text=said)
        return CreateMessageResult(role="assistant", content=text, model="m", stop_reason="endTurn")

    command = StdioServerParameters(
        command=sys.executable, args=["-m", "toolspan_server", "--config", str(config)]
    )
    client = Client(
        command,
        mode=mode,
        elicitation_callback=answer,
        sampling_callback=sample,
        sampling_capabilities=SamplingCapability(tools=SamplingToolsCapability()),
    )
    with anyio.fail_after(BOUND_S):
        async with client as connection:
            yield Peer(connection, asked)


def first_choices(schema: dict[str, Any]) -> dict[str, Any]:
    """The first value that each required field of a form takes."""
    properties: dict[str, Any] = schema.get("properties", {})
    found: dict[str, Any] = {}
    for name in schema.get("required", properties):
        field = properties[name]
        if "enum" in field:
            found[name] = field["enum"][0]
        elif "oneOf" in field:
            found[name] = field["oneOf"][0]["const"]
        elif field.get("type") == "array":
            found[name] = [field["items"].get("enum", [""])[0]]
        else:
            found[name] = True if field.get("type") == "boolean" else "yes"
    return found


@pytest.mark.requirement("I12.3.48")
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_each_tool_of_a_workspace_is_used_by_the_sdk_s_client(tmp_path: Path, mode: str) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "a.py").write_text("tide = 'low'\n")
    (folder / "n.ipynb").write_text(json.dumps(NOTEBOOK))
    with web() as address:
        async with connected(folder, address, mode) as peer:
            await use_files(peer, folder)
            await use_commands(peer, folder)
            assert "It is high" in await peer.call("WebFetch", url=f"{address}/tide")
            assert "https://example.com/tides" in await peer.call("WebSearch", query="tides")
            await use_plans(peer)
            told = await peer.call("Task", description="look", prompt="What is in a.py?")
            assert "tide = 'low'" in json.loads(told)["answer"]
            assert await peer.tools() == peer.used
            assert peer.asked


async def use_files(peer: Peer, folder: Path) -> None:
    assert "tide = 'low'" in await peer.call("Read", file_path="a.py")
    await peer.call("Edit", file_path="a.py", old_string="low", new_string="high")
    assert (folder / "a.py").read_text() == "tide = 'high'\n"
    await peer.call("Write", file_path="b/c.txt", content="new\n")
    assert (folder / "b/c.txt").read_text() == "new\n"
    assert "b/c.txt" in await peer.call("Glob", pattern="**/*.txt")
    assert "a.py" in await peer.call("Grep", pattern="tide")
    await peer.call("Read", file_path="n.ipynb")
    await peer.call("NotebookEdit", notebook_path="n.ipynb", cell_id="one", new_source="2")
    assert json.loads((folder / "n.ipynb").read_text())["cells"][0]["source"] in ("2", ["2"])
    assert "a.py" in await peer.call("Changes")
    await peer.call("Undo", file_path="a.py")
    assert (folder / "a.py").read_text() == "tide = 'low'\n"


async def use_commands(peer: Peer, folder: Path) -> None:
    assert "a.py" in await peer.call("Bash", command="ls")
    started = await peer.call("Bash", command="echo begun; sleep 600", run_in_background=True)
    bash_id = json.loads(started).get("bash_id") if started.startswith("{") else started.split()[-1]
    with anyio.fail_after(BOUND_S):
        while "begun" not in await peer.call("BashOutput", bash_id=bash_id):  # noqa: ASYNC110 - another process
            await anyio.sleep(0.05)
    await peer.call("KillShell", shell_id=bash_id)


async def use_plans(peer: Peer) -> None:
    todo = {"content": "Wait for the tide", "status": "pending"}
    await peer.call("TodoWrite", todos=[todo])
    assert "Wait for the tide" in await peer.call("Todos")
    question = {"question": "High or low?", "options": ["High", "Low"]}
    assert "High" in await peer.call("AskUserQuestion", questions=[question])
    await peer.call("EnterPlanMode")
    await peer.call("ExitPlanMode", plan="1. Wait.")
