"""Clients that no one here wrote, over every transport and protocol revision.

One suite of behaviour; the ``connect`` fixture says which way it goes. The Inspector's CLI comes from
npm: set TOOLSPAN_NODE_TESTS=1 to let the test install it into a cache folder.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, TextContent

from tests.support.foreign_programs import NODE_TESTS
from tests.support.served import BOUND_S, Served, command, http_server, until, write_config

pytestmark = [pytest.mark.long, pytest.mark.anyio]

HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN = "2026-07-28"
WAYS = [
    *(("stdio", version) for version in (*HANDSHAKE, MODERN)),
    *(("http", version) for version in (*HANDSHAKE, MODERN)),
    *(("sse", version) for version in HANDSHAKE),
]
INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"

Open = Callable[[], AbstractAsyncContextManager[Client]]


@dataclass(frozen=True)
class Target:
    """What serves the tools: a config for stdio, and the same config at an HTTP address."""

    config: Path
    http: Served


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    config = write_config(tmp_path_factory.mktemp("clients"), "wait", "noise")
    with http_server(config) as served:
        yield Target(config, served)


@pytest.fixture(params=WAYS, ids=lambda way: "-".join(way))
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param[1])


@pytest.fixture
def connect(
    request: pytest.FixtureRequest, target: Target, monkeypatch: pytest.MonkeyPatch, version: str
) -> Open:
    transport = request.node.callspec.params["version"][0]
    if version in HANDSHAKE:
        monkeypatch.setattr("mcp.client.session.LATEST_HANDSHAKE_VERSION", version)
    [program, *arguments] = command("--config", target.config)

    @asynccontextmanager
    async def opened() -> AsyncGenerator[Client]:
        server: Any = {
            "stdio": StdioServerParameters(command=program, args=arguments),
            "http": f"{target.http.url}/mcp",
            "sse": sse_client(f"{target.http.url}/sse"),
        }[transport]
        mode = "auto" if version == MODERN else "legacy"
        with anyio.fail_after(BOUND_S):
            async with Client(server, mode=mode, read_timeout_seconds=BOUND_S) as client:
                assert client.session.protocol_version == version
                yield client

    return opened


def text_of(result: CallToolResult) -> str:
    [block] = result.content
    assert isinstance(block, TextContent)
    return block.text


@pytest.mark.requirement("I2.5.1", "I2.8.3", "I3.5.3")
async def test_tools_are_listed_and_called(connect: Open, version: str) -> None:
    async with connect() as client:
        assert client.session.server_info is not None
        assert client.session.server_info.name == "toolspan"
        listed = (await client.list_tools()).tools
        assert [tool.name for tool in listed] == ["echo", "weather", "add", "wait", "noise"]
        assert listed[1].input_schema["required"] == ["location"]

        weather = await client.call_tool("weather", {"location": "Paris"})
        assert json.loads(text_of(weather)) == {"temperature": 22, "condition": "sunny"}
        assert weather.is_error is False
        assert weather.meta is not None and weather.meta["execution_time_ms"] >= 0

        text = await client.call_tool("add", {})
        assert text_of(text) == "4"
        wrapped = {"result": "4"} if version in ("2025-06-18", "2025-11-25") else None
        assert text.structured_content == ("4" if version == MODERN else wrapped)


@pytest.mark.requirement("I2.5.1", "I2.8.3", "I3.5.3")
async def test_failures_reach_the_client(connect: Open, version: str) -> None:
    async with connect() as client:
        failed = await client.call_tool("weather", {})
        assert failed.is_error is True
        error = json.loads(text_of(failed))
        assert error["error"] == "Invalid parameters: missing 'location'"
        assert error["error_code"] == "invalid_parameters"
        assert failed.structured_content == (None if version in ("2024-11-05", "2025-03-26") else error)
        with pytest.raises(MCPError, match="Tool 'nope' not found") as refused:
            await client.call_tool("nope", {})
        assert refused.value.error.code == -32602
        assert text_of(await client.call_tool("noise", {})) == "quiet on the wire"


@pytest.mark.requirement("I2.5.1", "I2.8.3", "I3.5.3")
async def test_calls_run_side_by_side_and_one_that_is_given_up_stops(
    connect: Open, target: Target, version: str, request: pytest.FixtureRequest
) -> None:
    note = f"given-up-{request.node.callspec.id}"
    folder = target.config.parent
    async with connect() as client, anyio.create_task_group() as group:
        group.start_soon(client.call_tool, "wait", {"seconds": 60, "note": note})
        await anyio.to_thread.run_sync(until, (folder / f"{note}.started").exists, "the call to start")
        results: list[str] = []

        async def ask(number: int) -> None:
            results.append(text_of(await client.call_tool("echo", {"value": str(number)})))

        async with anyio.create_task_group() as others:
            for number in range(10):
                others.start_soon(ask, number)
        assert sorted(results) == [str(number) for number in range(10)]
        group.cancel_scope.cancel()
    await anyio.to_thread.run_sync(until, (folder / note).exists, "the handler's cancellation")


@pytest.fixture(scope="session")
def inspector(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The Inspector's command line."""
    if not NODE_TESTS:
        pytest.skip(
            "NOT RUN: the Inspector's CLI; set TOOLSPAN_NODE_TESTS=1 to install it from npm and run it"
        )
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("NOT RUN: the Inspector's CLI; Node.js with npm is not installed")
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "toolspan-tests" / "inspector"
    cache.mkdir(parents=True, exist_ok=True)
    binary = cache / "node_modules" / ".bin" / "mcp-inspector"
    if not binary.exists():
        line = [npm, "install", "--no-audit", "--no-fund", "--prefix", str(cache), INSPECTOR]
        done = subprocess.run(line, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr
    return [str(binary), "--cli"]


@pytest.mark.node
@pytest.mark.requirement("I2.8.3", "I3.5.3")
@pytest.mark.parametrize("transport", ["stdio", "http", "sse"])
def test_the_inspector_lists_and_calls(inspector: list[str], target: Target, transport: str) -> None:
    where = {
        "stdio": ["--", *command("--config", target.config)],
        "http": ["--transport", "http", "--", f"{target.http.url}/mcp"],
        "sse": ["--transport", "sse", "--", f"{target.http.url}/sse"],
    }[transport]

    def ask(*method: str) -> Any:
        done = subprocess.run(
            [*inspector, "--method", *method, *where],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    assert [tool["name"] for tool in ask("tools/list")["tools"]] == [
        "echo",
        "weather",
        "add",
        "wait",
        "noise",
    ]
    called = ask("tools/call", "--tool-name", "weather", "--tool-arg", "location=Paris")
    assert called["structuredContent"] == {"temperature": 22, "condition": "sunny"}
