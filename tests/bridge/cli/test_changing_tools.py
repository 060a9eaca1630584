"""A tool that changes something is asked about, whatever kind it is of, and says so where it is listed."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import anyio.to_thread
import pytest

from tests.support.cli import toolspan
from tests.support.http_api import Api, serving
from toolspan_bridge.approvals import reason_to_ask
from toolspan_server.common.tool_hints import combine_hints, may_destroy
from toolspan_server.engines.upstreams import ListedTool

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I26.1.2")]

METHODS = {
    "GET": "reads",
    "HEAD": "reads",
    "OPTIONS": "reads",
    "POST": "changes",
    "PUT": "may destroy",
    "PATCH": "may destroy",
    "DELETE": "may destroy",
}


@pytest.fixture
async def api() -> AsyncGenerator[Api]:
    async with serving() as api:
        yield api


def tool(name: str, implementation: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"name": name, "description": name, "implementation": implementation, **more}


def written(folder: Path, *tools: dict[str, Any], **more: Any) -> str:
    (folder / "c.json").write_text(json.dumps({"name": "c", "tools": {"registry": list(tools)}, **more}))
    return "c.json"


def listed(folder: Path, config: str) -> dict[str, dict[str, Any]]:
    ran = toolspan("tools", "list", "--json", "--config", config, cwd=folder)
    assert ran.code == 0, ran.err
    return {each["name"]: each["annotations"] for each in json.loads(ran.out)["tools"]}


async def is_typed(folder: Path, config: str, name: str, *options: str) -> bool:
    """Whether a call is made that a person typed."""

    def call() -> int:
        return toolspan("tools", "call", name, "--config", config, *options, cwd=folder).code

    return await anyio.to_thread.run_sync(call) == 0


async def is_made(folder: Path, config: str, name: str, *options: str) -> bool:
    """Whether a call is made that a model wants."""

    def ask() -> bool:
        turns = [{"calls": [{"tool": name, "arguments": {}}]}, {"text": "done"}]
        (folder / "turns.json").write_text(json.dumps({"turns": turns}))
        model = ("-m", "scripted/turns.json", "--json")
        (use,) = toolspan("ask", "?", *model, "--config", config, *options, cwd=folder).json["tool_calls"]
        assert use["result"].get("error_code") in (None, "denied")
        return bool(use["result"]["success"])

    return await anyio.to_thread.run_sync(ask)


@pytest.mark.parametrize("method", METHODS)
async def test_a_call_of_a_web_api_is_asked_about_by_its_method(
    method: str, api: Api, tmp_path: Path
) -> None:
    http = {"type": "http", "url": f"{api.url}/x", "method": method, "allow_private": ["127.0.0.1"]}
    config = written(tmp_path, tool("t", http))
    reads = METHODS[method] == "reads"
    assert await is_made(tmp_path, config, "t") is reads
    assert len(api.seen) == (1 if reads else 0)
    assert await is_made(tmp_path, config, "t", "--approve", "t")
    assert api.seen[-1].method == method
    assert await is_typed(tmp_path, config, "t") is (METHODS[method] != "may destroy")


@pytest.mark.parametrize(
    ("statement", "typed"),
    [("SELECT a FROM t", True), ("INSERT INTO t VALUES (1)", True), ("DELETE FROM t", False)],
)
async def test_a_statement_that_may_change_data_is_asked_about(
    tmp_path: Path, statement: str, typed: bool
) -> None:
    with sqlite3.connect(tmp_path / "d.db") as database:
        database.execute("CREATE TABLE t (a)")
    reads = statement.startswith("SELECT")
    options = {"database": "d", "statement": statement, "read_only": reads}
    sql = {"type": "internal", "handler": "sql_query", "options": options}
    config = written(tmp_path, tool("t", sql), services={"databases": {"d": {"url": "sqlite:///d.db"}}})
    hints = await anyio.to_thread.run_sync(listed, tmp_path, config)
    assert hints["t"]["readOnlyHint"] is reads
    assert await is_made(tmp_path, config, "t") is reads
    assert await is_made(tmp_path, config, "t", "--approve", "t")
    assert await is_typed(tmp_path, config, "t") is typed


async def test_a_pipeline_changes_what_its_steps_do(api: Api, tmp_path: Path) -> None:
    def http(method: str) -> dict[str, Any]:
        return {"type": "http", "url": f"{api.url}/x", "method": method, "allow_private": ["127.0.0.1"]}

    def steps(*names: str) -> dict[str, Any]:
        return {
            "type": "pipeline",
            "steps": [{"id": f"s{n}", "tool": name} for n, name in enumerate(names)],
        }

    config = written(
        tmp_path,
        tool("reads", steps("get")),
        tool("deletes", steps("get", "delete")),
        tool("nested", steps("deletes")),
        tool("round", steps("round")),
        tool("get", http("GET")),
        tool("delete", http("DELETE")),
    )
    hints = await anyio.to_thread.run_sync(listed, tmp_path, config)
    assert hints["reads"] == {"readOnlyHint": True, "openWorldHint": True}
    for name in ("deletes", "nested"):
        assert (hints[name]["readOnlyHint"], hints[name]["destructiveHint"]) == (False, True)
        assert not await is_made(tmp_path, config, name)
    assert api.seen == [] and hints["round"] == {}
    assert await is_made(tmp_path, config, "reads")


async def test_what_a_config_says_of_its_tool_counts_before_its_method(api: Api, tmp_path: Path) -> None:
    http = {"type": "http", "url": f"{api.url}/x", "method": "POST", "allow_private": ["127.0.0.1"]}
    config = written(
        tmp_path,
        tool("search", http, annotations={"read_only": True}),
        tool("add", http, annotations={"destructive": False}),
        tool("drop", {**http, "method": "GET"}, annotations={"read_only": False}),
    )
    hints = await anyio.to_thread.run_sync(listed, tmp_path, config)
    assert hints["search"]["readOnlyHint"] is True and "destructiveHint" not in hints["search"]
    assert [await is_made(tmp_path, config, name) for name in ("search", "add", "drop")] == [
        True,
        True,
        False,
    ]


def test_the_effect_of_each_tool_is_listed_and_shown(tmp_path: Path) -> None:
    tools = [
        tool(method.lower(), {"type": "http", "url": "https://a.example", "method": method})
        for method in METHODS
    ]
    config = written(tmp_path, *tools, tool("m", {"type": "mock", "mock_response": 1}))
    table = toolspan("tools", "list", "--config", config, cwd=tmp_path).out
    for method, effect in METHODS.items():
        (line,) = [each for each in table.splitlines() if each.split()[:1] == [method.lower()]]
        assert f" {effect} " in line
    shown = toolspan("tools", "show", "delete", "--config", config, cwd=tmp_path).out
    assert shown.startswith("delete (server c, may destroy)\n")
    assert toolspan("tools", "show", "m", "--config", config, cwd=tmp_path).out.startswith("m (server c)\n")


def test_a_read_only_tool_of_kind_http_can_have_a_cache(tmp_path: Path) -> None:
    http = {"type": "http", "url": "https://a.example"}
    fits = written(tmp_path, tool("t", http, cache={"ttl_ms": 1000}))
    assert toolspan("check", "--config", fits, cwd=tmp_path).code == 0
    changes = written(tmp_path, tool("t", {**http, "method": "PUT"}, cache={"ttl_ms": 1000}))
    assert toolspan("check", "--config", changes, cwd=tmp_path).code != 0


@pytest.mark.parametrize(
    ("annotations", "asks"),
    [
        ({}, False),
        ({"readOnlyHint": True}, False),
        ({"readOnlyHint": False}, True),  # MCP: destructiveHint is true by default
        ({"readOnlyHint": False, "destructiveHint": False}, False),
        ({"readOnlyHint": False, "destructiveHint": True}, True),
        ({"destructiveHint": True}, True),
        ({"destructiveHint": False}, False),
        ({"readOnlyHint": True, "destructiveHint": True}, False),
        ({"readOnlyHint": None, "destructiveHint": "yes"}, False),
    ],
    ids=str,
)
def test_another_servers_tool_is_asked_about_by_what_it_says(annotations: dict[str, Any], asks: bool) -> None:
    listed = ListedTool("t", "T.", {"type": "object"}, {"annotations": annotations})
    assert bool(reason_to_ask(listed, "destructive")) is asks is may_destroy(annotations)


@pytest.mark.parametrize(
    ("each", "together"),
    [
        ([], {}),
        ([{}], {}),
        ([{"read_only": True}, {}], {}),
        ([{"read_only": True}, {"read_only": True}], {"read_only": True}),
        ([{"read_only": True}, {"read_only": False}], {"read_only": False}),
        (
            [{"read_only": True}, {"read_only": False, "destructive": False}],
            {"read_only": False, "destructive": False},
        ),
        ([{"read_only": False, "destructive": False}, {}], {"read_only": False}),
        ([{"destructive": True}, {"read_only": True}], {"read_only": False, "destructive": True}),
        ([{"read_only": True, "destructive": True}], {"read_only": True}),
    ],
    ids=str,
)
def test_hints_of_several_tools_promise_no_more_than_each_does(each: Any, together: Any) -> None:
    assert combine_hints(each) == together
