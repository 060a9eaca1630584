"""What a tool sends elsewhere is what its caller gave; defaults are filled in for our own kinds."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.aggregates import ERAS, aggregate, connected, own, text
from tests.support.configs import told
from tests.support.http_api import Api, http_tool, serving
from tests.support.upstreams import served as served_upstreams
from toolspan_server import Config, running
from toolspan_server.calls.caller import LOCAL
from toolspan_server.live.runtime import Runtime

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I26.1.1")]

FIELDS: dict[str, Any] = {
    "description": {"type": "string"},
    "private": {"type": "boolean", "default": False},
    "tags": {"type": "array", "items": {"type": "string"}, "default": []},
    "owner": {"type": "object", "properties": {"role": {"type": "string", "default": "none"}}},
    "size": {"type": "integer", "default": 1},
}
SHAPES: Mapping[str, dict[str, Any]] = {
    "properties": {"type": "object", "properties": FIELDS},
    "a reference": {"$ref": "#/components/schemas/Change"},
    "allOf": {"allOf": [{"$ref": "#/components/schemas/Change"}, {"type": "object"}]},
    "anyOf": {"anyOf": [{"$ref": "#/components/schemas/Change"}, {"type": "null"}]},
}


@pytest.fixture
async def api() -> AsyncGenerator[Api]:
    async with serving() as api:
        yield api


def described(api: Api, shape: Any, media: str = "application/json") -> dict[str, Any]:
    return {
        "openapi": "3.1.0",
        "info": {"title": "a", "version": "1"},
        "servers": [{"url": api.url}],
        "components": {"schemas": {"Change": {"type": "object", "properties": FIELDS}}},
        "paths": {
            "/repos/{id}": {
                "patch": {
                    "operationId": "update",
                    "parameters": [
                        {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}},
                        {"name": "dry", "in": "query", "schema": {"type": "boolean", "default": True}},
                        {"name": "X-Mode", "in": "header", "schema": {"type": "string", "default": "all"}},
                        {"name": "c", "in": "cookie", "schema": {"type": "string", "default": "1"}},
                    ],
                    "requestBody": {"content": {media: {"schema": shape}}},
                }
            }
        },
    }


async def called(folder: Path, source: Mapping[str, Any], arguments: dict[str, Any]) -> None:
    config = Config.model_validate({"tools": {"sources": [source]}})
    async with running(config) as runtime:
        await runtime.settled()
        result = await runtime.execute("update", arguments, LOCAL)
        assert result.success, result.error


def source(folder: Path, description: Any, **more: Any) -> dict[str, Any]:
    path = folder / "api.json"
    path.write_text(json.dumps(description))
    return {"type": "openapi", "file": str(path), "allow_private": ["127.0.0.1"], **more}


@pytest.mark.parametrize("shape", SHAPES)
async def test_an_operation_sends_the_fields_that_its_caller_gave(
    shape: str, api: Api, tmp_path: Path
) -> None:
    given: dict[str, Any] = {"description": "new", "owner": {"name": "me"}, "size": 2.0}
    body = {"body": given} if shape in ("allOf", "anyOf") else given
    await called(tmp_path, source(tmp_path, described(api, SHAPES[shape])), {"id": "7", **body})
    (seen,) = api.seen
    assert (seen.method, seen.target, seen.json) == ("PATCH", "/repos/7", given)
    assert "x-mode" not in seen.headers and "cookie" not in seen.headers
    assert b"2.0" not in seen.body


async def test_a_form_has_no_fields_that_nobody_gave(api: Api, tmp_path: Path) -> None:
    description = described(api, SHAPES["properties"], "application/x-www-form-urlencoded")
    await called(tmp_path, source(tmp_path, description), {"id": "7", "description": "new"})
    assert api.seen[0].body == b"description=new"


async def test_an_operation_sends_defaults_where_its_config_asks_for_it(api: Api, tmp_path: Path) -> None:
    overrides = {"update": {"send_defaults": True}}
    description = described(api, SHAPES["properties"])
    await called(tmp_path, source(tmp_path, description, overrides=overrides), {"id": "7"})
    assert api.seen[0].json == {"private": False, "tags": [], "size": 1}
    assert (api.seen[0].query, api.seen[0].headers["x-mode"]) == ([("dry", "true")], "all")


@pytest.mark.parametrize("sends", [False, True])
async def test_a_tool_of_kind_http_sends_defaults_only_where_it_says_so(api: Api, sends: bool) -> None:
    more = {"send_defaults": True} if sends else {}
    parameters = {"type": "object", "properties": FIELDS}
    async with http_tool(f"{api.url}/x", parameters, method="PUT", **more) as call:
        assert (await call(description="new")).success
    defaults = {"private": False, "tags": [], "size": 1} if sends else {}
    assert api.seen[0].json == {"description": "new", **defaults}


def test_a_default_that_a_url_needs_is_a_problem_of_the_config(tmp_path: Path) -> None:
    tool: dict[str, Any] = {
        "name": "t",
        "description": "T.",
        "parameters": {"type": "object", "properties": {"v": {"type": "string", "default": "v1"}}},
        "implementation": {"type": "http", "url": "https://a.example/{v}/x"},
    }
    (problem,) = told(tmp_path, json.dumps({"tools": {"registry": [tool]}}))
    assert "'v'" in problem and "(make it required, or set send_defaults: true)" in problem
    implementation = {**tool["implementation"], "send_defaults": True}
    Config.model_validate({"tools": {"registry": [{**tool, "implementation": implementation}]}})


ECHO: dict[str, Any] = {
    "name": "update",
    "description": "Changes a repository.",
    "parameters": {"type": "object", "properties": FIELDS},
    "implementation": {"type": "mock", "response": "{{ arguments }}"},
}


def echoing(folder: Path) -> dict[str, Any]:
    """A server that answers with the arguments that it got, and fills in no defaults itself."""
    program = folder / "echoing.py"
    program.write_text(
        "import json, mcp_types as types\n"
        "from mcp.server.lowlevel import Server\n"
        "import anyio\n"
        "from mcp.server.stdio import stdio_server\n"
        f"SCHEMA = json.loads({json.dumps(json.dumps(ECHO['parameters']))})\n"
        "async def listed(context, params):\n"
        "    return types.ListToolsResult(tools=[types.Tool(name='update', input_schema=SCHEMA)])\n"
        "async def call(context, params):\n"
        "    text = json.dumps(params.arguments, sort_keys=True)\n"
        "    return types.CallToolResult(content=[types.TextContent(text=text)])\n"
        "server = Server('echo', on_list_tools=listed, on_call_tool=call)\n"
        "async def main():\n"
        "    async with stdio_server() as (read, write):\n"
        "        await server.run(read, write, server.create_initialization_options())\n"
        "anyio.run(main)\n"
    )
    return {"command": sys.executable, "args": [str(program)]}


@pytest.mark.parametrize("mode", ERAS)
async def test_an_aggregate_passes_on_the_arguments_that_it_got(tmp_path: Path, mode: str) -> None:
    hub = aggregate(tmp_path, {"git": echoing(tmp_path)}, {"approval": "never"})
    async with connected(hub, mode=mode) as client:
        answer = await client.call_tool("git_update", {"description": "new"})
    assert json.loads(text(answer)) == {"description": "new"}


async def sent(runtime: Runtime, **arguments: Any) -> Any:
    result = await runtime.execute("update", arguments, LOCAL)
    assert result.success, result.error
    return json.loads(str(result.result))


@pytest.mark.parametrize(
    ("change", "arrives"),
    [
        ({}, {}),
        ({"hide": ["private"]}, {}),
        ({"pin": {"private": True}}, {"private": True}),
        ({"send_defaults": True}, {"private": False, "tags": [], "size": 1}),
        ({"send_defaults": True, "hide": ["private"]}, {"private": False, "tags": [], "size": 1}),
    ],
    ids=str,
)
async def test_a_tool_of_another_server_gets_its_defaults_only_where_the_config_says_so(
    tmp_path: Path, change: dict[str, Any], arrives: dict[str, Any]
) -> None:
    upstream = {"upstream": "git", "tools": {"update": change}}
    async with served_upstreams(tmp_path, {"git": echoing(tmp_path)}, upstream) as runtime:
        assert await sent(runtime, description="new") == {"description": "new", **arrives}


async def test_our_own_kinds_get_their_defaults(tmp_path: Path) -> None:
    hub = aggregate(tmp_path, {"own": own(tmp_path, "own", ECHO)}, {"approval": "never"})
    async with connected(hub) as client:
        answer = await client.call_tool("own_update", {"description": "new"})
    filled = {"description": "new", "private": False, "tags": [], "size": 1}
    assert json.loads(text(answer)) == filled
