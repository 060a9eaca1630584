"""Toolsets: which tools they have, and that an endpoint shows one and nothing else."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.support.asgi import Client, Reply
from tests.support.served import INITIALIZE, MODERN_META, StdioServer, call, http_server, run
from tests.support.sources import config_of, mock
from toolspan_server import (
    Config,
    ConfigError,
    load_config,
    running,
)
from toolspan_server.config import ToolsetConfig
from toolspan_server.http_server.guard import Access
from toolspan_server.live.runtime import Runtime
from toolspan_server.protocol.http.app import Application

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I4.2.9")]
ACCEPT = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
TOOLSETS: dict[str, Any] = {
    "weather": {
        "tools": ["weather_*"],
        "description": "About weather.",
        "instructions": "Ask about weather.",
    },
    "admin": {"tags": ["admin"], "exclude": ["weather_set"]},
}
TOOLS = [mock("weather_now", 1), mock("weather_set", 2, tags=["admin"]), mock("users", 3, tags=["admin"])]


def toolset(**said: Any) -> ToolsetConfig:
    return ToolsetConfig.model_validate(said)


@pytest.mark.parametrize(
    ("said", "members"),
    [
        ({}, ["a_1", "a_2", "b"]),
        ({"tools": ["b"]}, ["b"]),
        ({"tools": ["a_*"]}, ["a_1", "a_2"]),
        ({"tools": ["A_*"]}, []),
        ({"tags": ["t"]}, ["a_2"]),
        ({"tools": ["b"], "tags": ["t"]}, ["a_2", "b"]),
        ({"exclude": ["a_?"]}, ["b"]),
        ({"tools": ["a_*"], "exclude": ["a_1"]}, ["a_2"]),
        ({"tools": []}, []),
    ],
)
def test_a_tool_belongs_by_name_glob_or_tag_unless_it_is_excluded(said: Any, members: list[str]) -> None:
    tools: dict[str, tuple[str, ...]] = {"a_1": (), "a_2": ("t",), "b": ()}
    assert [name for name, tags in tools.items() if toolset(**said).has(name, tags)] == members


@pytest.mark.requirement("I4.4.1")
@pytest.mark.parametrize(
    ("toolsets", "said"),
    [
        (
            {"w": {"tools": ["weather_new"]}},
            "$.toolsets.w.tools[0]: unknown tool 'weather_new' (did you mean",
        ),
        ({"w": {"exclude": ["x"]}}, "$.toolsets.w.exclude[0]: unknown tool 'x' (known: users, weather_now"),
        ({"w": {"tols": []}}, "$.toolsets.w.tols: unknown key 'tols' (did you mean 'tools'?)"),
        ({"w x": {}}, "'w x' does not match"),
        ({"w": []}, "$.toolsets.w: must be an object"),
        ({"w": {"tools": "weather"}}, "$.toolsets.w.tools: must be a list"),
    ],
)
def test_a_toolset_that_is_wrong_is_refused_with_its_place(tmp_path: Path, toolsets: Any, said: str) -> None:
    path = tmp_path / "toolspan.json"
    path.write_text(json.dumps({"tools": {"registry": TOOLS}, "toolsets": toolsets}))
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert said in str(caught.value)


def test_two_files_cannot_have_one_toolset_and_may_name_each_others_tools(tmp_path: Path) -> None:
    one, two = tmp_path / "1.json", tmp_path / "2.json"
    one.write_text(json.dumps({"tools": {"registry": TOOLS}, "toolsets": {"w": {}}}))
    two.write_text(json.dumps({"toolsets": {"v": {"tools": ["users"]}}}))
    assert set(load_config(one, two).toolsets) == {"w", "v"}
    two.write_text(json.dumps({"toolsets": {"w": {}}}))
    with pytest.raises(ConfigError, match=r"toolset 'w' is already defined at .*1.json:1:"):
        load_config(one, two)


@asynccontextmanager
async def endpoints(config: Config, only: str | None = None) -> AsyncIterator[tuple[Client, Runtime]]:
    async with running(config) as runtime, anyio.create_task_group() as helpers:
        application = Application(runtime, Access(), helpers, toolset=only)
        yield Client(application.app), runtime
        application.close()
        helpers.cancel_scope.cancel()


async def modern(client: Client, path: str, method: str, **params: Any) -> Reply:
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": MODERN_META}}
    named = {"mcp-name": params["name"]} if "name" in params else {}
    headers = {**ACCEPT, "mcp-protocol-version": "2026-07-28", "mcp-method": method, **named}
    return await client.ask("POST", json.dumps(message).encode(), headers, path=path)


async def names(client: Client, path: str) -> list[str]:
    listed = (await modern(client, path, "tools/list")).message
    return [each["name"] for each in listed["result"]["tools"]]


async def test_each_endpoint_lists_and_calls_its_own_tools_and_no_others() -> None:
    async with endpoints(config_of(*TOOLS, toolsets=TOOLSETS)) as (client, _):
        assert await names(client, "/mcp") == ["weather_now", "weather_set", "users"]
        assert await names(client, "/mcp/weather") == ["weather_now", "weather_set"]
        assert await names(client, "/mcp/admin") == ["users"]
        assert (await modern(client, "/mcp/admin", "tools/call", name="users")).status == 200
        outside = await modern(client, "/mcp/admin", "tools/call", name="weather_now")
        assert outside.status == 400
        assert outside.message["error"] == {"code": -32602, "message": "Tool 'weather_now' not found"}


async def test_each_endpoint_introduces_itself() -> None:
    config = config_of(*TOOLS, toolsets=TOOLSETS, instructions="Ask about anything.")
    async with endpoints(config) as (client, _):
        whole = (await modern(client, "/mcp", "server/discover")).message["result"]
        weather = (await modern(client, "/mcp/weather", "server/discover")).message["result"]
        admin = (await modern(client, "/mcp/admin", "server/discover")).message["result"]
    assert whole["instructions"] == admin["instructions"] == "Ask about anything."
    assert weather["instructions"] == "Ask about weather."
    key = "io.modelcontextprotocol/serverInfo"
    assert "description" not in whole["_meta"][key]
    assert weather["_meta"][key]["description"] == "About weather."


async def test_a_session_of_one_endpoint_is_unknown_at_every_other() -> None:
    async with endpoints(config_of(*TOOLS, toolsets=TOOLSETS)) as (client, _):
        opened = await client.ask("POST", json.dumps(INITIALIZE).encode(), ACCEPT, path="/mcp/weather")
        assert opened.message["result"]["instructions"] == "Ask about weather."
        headers = {
            **ACCEPT,
            "mcp-session-id": opened.headers["mcp-session-id"],
            "mcp-protocol-version": "2025-11-25",
        }
        ping = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
        replies = [
            await client.ask("POST", ping, headers, path=path)
            for path in ("/mcp/weather", "/mcp", "/mcp/admin")
        ]
        assert [each.status for each in replies] == [200, 404, 404]


async def test_a_path_of_no_toolset_is_a_json_rpc_error_with_404() -> None:
    async with endpoints(config_of(*TOOLS, toolsets=TOOLSETS)) as (client, _):
        for path in ("/mcp/nothing", "/mcp/", "/mcp/weather/", "/mcp/..%2f", "/mcp/" + "a" * 5_000):
            reply = await modern(client, path, "tools/list")
            assert reply.status == 404
            assert reply.message["error"]["code"] == -32600
        assert "No toolset 'nothing' is served here" in str(
            (await modern(client, "/mcp/nothing", "tools/list")).message
        )


async def test_toolsets_come_change_and_go_with_the_config() -> None:
    async with endpoints(config_of(*TOOLS)) as (client, runtime):
        assert (await modern(client, "/mcp/weather", "tools/list")).status == 404
        await runtime.replace(config_of(*TOOLS, toolsets=TOOLSETS))
        assert await names(client, "/mcp/weather") == ["weather_now", "weather_set"]
        await runtime.replace(config_of(*TOOLS, toolsets={"weather": {"tools": ["users"]}}))
        assert await names(client, "/mcp/weather") == ["users"]
        await runtime.replace(config_of(*TOOLS))
        assert (await modern(client, "/mcp/weather", "tools/list")).status == 404


async def test_one_toolset_may_be_served_as_if_it_were_everything() -> None:
    async with endpoints(config_of(*TOOLS, toolsets=TOOLSETS), only="admin") as (client, _):
        assert await names(client, "/mcp") == await names(client, "/mcp/admin") == ["users"]
        assert (await modern(client, "/mcp/weather", "tools/list")).status == 404


async def test_a_toolset_shows_neither_resources_nor_prompts() -> None:
    more: dict[str, Any] = {
        "resources": [{"uri": "memo:1", "name": "memo", "text": "hello"}],
        "prompts": [{"name": "p", "messages": [{"role": "user", "text": "hello"}]}],
    }
    async with endpoints(config_of(*TOOLS, toolsets=TOOLSETS, **more)) as (client, _):
        whole = (await modern(client, "/mcp", "server/discover")).message["result"]["capabilities"]
        part = (await modern(client, "/mcp/admin", "server/discover")).message["result"]["capabilities"]
    assert {"resources", "prompts"} <= set(whole)
    assert not {"resources", "prompts"} & set(part)


def test_on_stdio_and_http_by_an_option(tmp_path: Path) -> None:
    path = tmp_path / "toolspan.json"
    path.write_text(json.dumps({"tools": {"registry": TOOLS}, "toolsets": TOOLSETS}))
    with StdioServer(path, "--toolset", "admin") as server:
        opened = server.ask(INITIALIZE)
        assert opened["result"]["serverInfo"]["name"] == "toolspan"
        listed = server.ask({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
        assert [each["name"] for each in listed["result"]["tools"]] == ["users"]
        assert server.ask(call(2, "weather_now"))["error"]["code"] == -32602
        server.close_input()
    with http_server(path, "--toolset", "weather") as served:
        assert "serving 2 tools of toolset weather at" in served.errors.text
    refused = run(["--config", path, "--toolset", "wether"], tmp_path)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "--toolset wether: the config has no such toolset (did you mean 'weather'?)" in refused.stderr
