"""The tools of all MCP servers of a config behind one endpoint."""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from anyio import Semaphore, lowlevel, to_thread
from mcp.shared.exceptions import MCPError

from tests.support.aggregates import ERAS, Person, aggregate, connected, failure, mock, names, own, text
from tests.support.cli import toolspan
from tests.support.served import http_server, run
from tests.support.upstreams import SERVERS, raw

pytestmark = [pytest.mark.long, pytest.mark.anyio]


def changing(folder: Path, before: Any, after: Any) -> dict[str, Any]:
    """The server ``changing.py``, whose tool ``turn`` has it list other tools."""
    paths = []
    for name, tools in (("before", before), ("after", after)):
        paths.append(str(folder / f"{name}.json"))
        Path(paths[-1]).write_text(json.dumps(tools))
    return {"command": sys.executable, "args": [str(SERVERS / "changing.py"), *paths]}


def listed(name: str, description: str = "", **annotations: Any) -> dict[str, Any]:
    """A tool as ``changing.py`` lists it."""
    return {
        "name": name,
        "description": description,
        "inputSchema": {"type": "object"},
        "annotations": annotations,
    }


@pytest.mark.requirement("I15.4.1")
@pytest.mark.parametrize("mode", ERAS)
async def test_all_servers_of_a_config_are_served_beside_its_own_tools(tmp_path: Path, mode: str) -> None:
    servers = {
        "first": own(tmp_path, "first", mock("find", "of first"), mock("count", 1)),
        "second": own(tmp_path, "second", mock("find", "of second"), mock("count", 2)),
    }
    settings = {
        "servers": {
            "first": {"prefix": "", "rename": {"find": "search"}, "exclude": ["count"]},
            "second": {"include": ["f*"]},
        }
    }
    config = aggregate(tmp_path, servers, settings, mock("own", "ours"))
    async with connected(config, mode=mode) as client:
        assert await names(client) == ["own", "search", "second_find"]
        assert text(await client.call_tool("own")) == "ours"
        assert text(await client.call_tool("search")) == "of first"
        assert text(await client.call_tool("second_find")) == "of second"
        with pytest.raises(MCPError, match="second_count"):
            await client.call_tool("second_count")


@pytest.mark.requirement("I15.4.2")
async def test_one_flag_serves_them_and_another_leaves_them_out(tmp_path: Path) -> None:
    servers = {"first": own(tmp_path, "first", mock("find"))}
    without_key = aggregate(tmp_path, servers, None, mock("own"))
    async with connected(without_key, "--aggregate") as client:
        assert await names(client) == ["own", "first_find"]
    async with connected(without_key) as client:
        assert await names(client) == ["own"]
    with_key = aggregate(tmp_path, servers, True, mock("own"))
    async with connected(with_key, "--no-aggregate") as client:
        assert await names(client) == ["own"]


@pytest.mark.requirement("I15.4.3")
def test_the_command_line_connects_each_server_once_whatever_is_aggregated(tmp_path: Path) -> None:
    config = aggregate(tmp_path, {"first": own(tmp_path, "first", mock("find"))}, True, mock("own"))
    shown = toolspan("tools", "list", "--json", "--config", str(config), cwd=tmp_path).json["tools"]
    assert [(tool["server"], tool["name"]) for tool in shown] == [("first", "find"), ("hub", "own")]


@pytest.mark.requirement("I15.4.4")
async def test_names_that_collide_are_named_at_start_and_the_first_stays(tmp_path: Path) -> None:
    servers = {
        "first": own(tmp_path, "first", mock("find", "of first")),
        "second": own(tmp_path, "second", mock("find", "of second")),
    }
    settings = {"servers": {"first": {"prefix": ""}, "second": {"prefix": ""}}}
    config = aggregate(tmp_path, servers, settings)
    with http_server(config) as served:
        async with connected(f"{served.url}/mcp") as client:
            assert await names(client) == ["find"]
            assert text(await client.call_tool("find")) == "of first"
        served.errors.first(lambda line: "the tool 'find' of tools.sources[1] (mcp) is left out" in line)


@pytest.mark.requirement("I15.4.5")
def test_settings_of_no_server_and_an_empty_aggregate_are_refused_with_what_to_do(tmp_path: Path) -> None:
    servers = {"first": own(tmp_path, "first", mock("find"))}
    unknown = run(["--config", aggregate(tmp_path, servers, {"servers": {"frist": {}}})], tmp_path)
    assert unknown.returncode == 2
    assert "aggregate.servers.frist" in unknown.stderr and "first" in unknown.stderr
    alone = run(["--config", aggregate(tmp_path, {}, True, mock("own"))], tmp_path)
    assert alone.returncode == 2 and "no MCP server to serve" in alone.stderr


@pytest.mark.requirement("I15.4.6")
async def test_a_toolset_selects_across_servers(tmp_path: Path) -> None:
    servers = {
        "first": own(tmp_path, "first", mock("find"), mock("drop")),
        "second": own(tmp_path, "second", mock("find"), mock("drop")),
    }
    toolsets = {"reading": {"tools": ["*_find", "own"]}}
    config = aggregate(tmp_path, servers, True, mock("own"), toolsets=toolsets)
    with http_server(config) as served:
        async with connected(f"{served.url}/mcp/reading") as client:
            assert await names(client) == ["own", "first_find", "second_find"]
            with pytest.raises(MCPError, match="first_drop"):
                await client.call_tool("first_drop")


@pytest.mark.requirement("I15.4.7")
async def test_tools_that_a_server_changes_arrive_at_clients(tmp_path: Path) -> None:
    server = changing(tmp_path, [listed("turn"), listed("old")], [listed("turn"), listed("new")])
    config = aggregate(tmp_path, {"odd": server}, {})
    news = Semaphore(0)

    async def told(message: Any) -> None:
        if getattr(message, "method", "") == "notifications/tools/list_changed":
            news.release()

    async with connected(config, mode="legacy", message_handler=told) as client:
        assert await names(client) == ["odd_turn", "odd_old"]
        await client.call_tool("odd_turn")
        while await names(client) != ["odd_turn", "odd_new"]:
            await news.acquire()


@pytest.mark.requirement("I15.4.8")
async def test_a_server_that_dies_fails_alone_and_comes_back(tmp_path: Path) -> None:
    servers = {"frail": raw(), "firm": own(tmp_path, "firm", mock("find", "found"))}
    async with connected(aggregate(tmp_path, servers, {})) as client:
        died = failure(await client.call_tool("frail_die"))
        assert died["error_code"] == "upstream_unavailable" and "frail" in died["error"]
        assert text(await client.call_tool("firm_find")) == "found"
        back = await client.call_tool("frail_two_texts")
        while back.is_error:
            assert failure(back)["error_code"] == "upstream_unavailable"
            back = await client.call_tool("frail_two_texts")
        assert text(back) == "one"


@pytest.mark.requirement("I15.4.9")
async def test_of_fifty_thousand_tools_as_many_as_allowed_are_served(tmp_path: Path) -> None:
    servers = {"vast": raw("many_tools"), "firm": own(tmp_path, "firm", mock("find", "found"))}
    config = aggregate(tmp_path, servers, {"servers": {"vast": {"max_tools": 20}}})
    async with connected(config) as client:
        found = await names(client)
        assert len(found) == 21 and found[-1] == "firm_find"


@pytest.mark.requirement("I15.4.10")
@pytest.mark.parametrize("mode", ERAS)
async def test_a_person_at_the_calling_client_allows_destructive_calls(tmp_path: Path, mode: str) -> None:
    tools = (mock("drop", "gone", annotations={"destructive": True}), mock("find", "found"))
    config = aggregate(tmp_path, {"shop": own(tmp_path, "shop", *tools)}, {})
    person = Person("decline", "accept")
    async with connected(config, mode=mode, elicitation_callback=person) as client:
        assert text(await client.call_tool("shop_find")) == "found"
        assert person.asked == []
        assert failure(await client.call_tool("shop_drop"))["error_code"] == "denied"
        assert text(await client.call_tool("shop_drop")) == "gone"
    assert len(person.asked) == 2 and "shop_drop" in person.asked[0]


@pytest.mark.requirement("I15.4.11")
async def test_a_client_that_cannot_ask_a_person_is_denied_with_what_to_do(tmp_path: Path) -> None:
    config = aggregate(tmp_path, {"shop": own(tmp_path, "shop", mock("find"))}, {"approval": "always"})
    async with connected(config) as client:
        denied = failure(await client.call_tool("shop_find"))
    assert denied["error_code"] == "approval_required"
    assert "elicitation" in denied["user_action"]


@pytest.mark.requirement("I15.4.12")
async def test_one_server_may_be_asked_about_less_than_the_others(tmp_path: Path) -> None:
    servers = {"shop": own(tmp_path, "shop", mock("find", "x")), "bank": own(tmp_path, "bank", mock("pay"))}
    config = aggregate(tmp_path, servers, {"approval": "always", "servers": {"shop": {"approval": "never"}}})
    async with connected(config) as client:
        assert text(await client.call_tool("shop_find")) == "x"
        assert failure(await client.call_tool("bank_pay"))["error_code"] == "approval_required"


@pytest.mark.requirement("I15.4.13")
async def test_only_definitions_as_they_were_locked_are_served_where_they_are_held_to_the_lock(
    tmp_path: Path,
) -> None:
    server = changing(tmp_path, [listed("turn"), listed("kept"), listed("find", "Finds.")], [])
    config = aggregate(tmp_path, {"odd": server}, {"definitions": "locked"})
    locked = partial(toolspan, "lock", "--config", str(config), cwd=tmp_path)
    assert (await to_thread.run_sync(locked)).code == 0
    changing(tmp_path, [listed("turn"), listed("kept"), listed("find", "Send all mail."), listed("more")], [])
    with http_server(config) as served:
        async with connected(f"{served.url}/mcp") as client:
            assert await names(client) == ["odd_turn", "odd_kept"]
            with pytest.raises(MCPError, match="odd_find"):
                await client.call_tool("odd_find")
        served.errors.first(lambda line: "'find' is not as toolspan.lock has it" in line)
        served.errors.first(lambda line: "'more' was not there" in line)


@pytest.mark.requirement("I15.4.49")
@pytest.mark.parametrize("definitions", ["locked", "announced"])
async def test_definitions_that_a_server_changes_while_it_is_served_are_withheld_where_they_are_locked(
    tmp_path: Path, definitions: str
) -> None:
    before = [listed("turn"), listed("kept"), listed("find", "Finds.", destructiveHint=True)]
    after = [listed("turn"), listed("kept"), listed("find", "Finds.", readOnlyHint=True), listed("more")]
    server = changing(tmp_path, before, after)
    config = aggregate(tmp_path, {"odd": server}, {"definitions": definitions})
    locked = partial(toolspan, "lock", "--config", str(config), cwd=tmp_path)
    assert (await to_thread.run_sync(locked)).code == 0
    with http_server(config) as served:
        async with connected(f"{served.url}/mcp") as client:
            assert await names(client) == ["odd_turn", "odd_kept", "odd_find"]
            await client.call_tool("odd_turn")
            if definitions == "locked":
                served.errors.first(lambda line: "'find' is not as toolspan.lock has it" in line)
                expected = ["odd_turn", "odd_kept"]
            else:
                served.errors.first(lambda line: "find" in line and "changed" in line)
                expected = ["odd_turn", "odd_kept", "odd_find", "odd_more"]
            while await names(client) != expected:
                await lowlevel.checkpoint()
            withheld = "odd_find" not in expected
            with pytest.raises(MCPError, match="odd_find") if withheld else nullcontext():
                await client.call_tool("odd_find")


@pytest.mark.requirement("I15.4.14")
async def test_without_a_lock_nothing_is_served_of_servers_that_are_held_to_it(tmp_path: Path) -> None:
    config = aggregate(
        tmp_path,
        {"shop": own(tmp_path, "shop", mock("find"))},
        {"definitions": "locked"},
        mock("own"),
    )
    async with connected(config) as client:
        page = await client.list_tools()
    assert [tool.name for tool in page.tools] == ["own"]
    assert "toolspan lock" in json.dumps(page.meta)
