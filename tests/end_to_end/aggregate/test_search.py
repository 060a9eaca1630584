"""Few tools listed where there are many, and the others found by words."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, ClientSession
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import Implementation

from tests.support.aggregates import ERAS, Person, aggregate, connected, failure, mock, names, own, text
from tests.support.served import MODERN_META, StdioServer, call, http_server
from tests.support.upstreams import SERVERS, raw

pytestmark = [pytest.mark.long, pytest.mark.anyio]
ABOUT = {"description": "Opens the harbour gate for a ship."}


def hub(folder: Path, above: int, **more: Any) -> Path:
    many = [mock(f"thing_{number}", number) for number in range(30)]
    gate = {**mock("gate", "open"), **ABOUT}
    drop = mock("drop", "gone", annotations={"destructive": True})
    servers = {"port": own(folder, "port", gate, drop), "many": own(folder, "many", *many)}
    settings = {"search": {"above": above, "always": ["own"]}}
    return aggregate(folder, servers, settings, mock("own", "ours"), **more)


async def found(client: Client, query: str) -> list[str]:
    result = await client.call_tool("search_tools", {"query": query})
    return [tool["name"] for tool in json.loads(text(result))["tools"]]


@pytest.mark.requirement("I15.4.21")
@pytest.mark.parametrize("mode", ERAS)
async def test_of_many_tools_few_are_listed_and_the_others_found_and_called(
    tmp_path: Path, mode: str
) -> None:
    async with connected(hub(tmp_path, 10), mode=mode) as client:
        assert await names(client) == ["search_tools", "call_tool", "own"]
        assert (await found(client, "open a harbour for ships"))[0] == "port_gate"
        called = await client.call_tool("call_tool", {"name": "port_gate", "arguments": {}})
        assert text(called) == "open"
        assert text(await client.call_tool("port_gate")) == "open"
        assert text(await client.call_tool("own")) == "ours"
        unknown = failure(await client.call_tool("call_tool", {"name": "port_gat"}))
        assert unknown["error_code"] == "tool_not_found"
        assert await found(client, "zzz") == []


@pytest.mark.requirement("I15.4.22")
async def test_of_fewer_tools_all_are_listed(tmp_path: Path) -> None:
    async with connected(hub(tmp_path, 33)) as client:
        listed = await names(client)
        assert len(listed) == 33 and "search_tools" not in listed


@pytest.mark.requirement("I15.4.23")
@pytest.mark.parametrize("mode", ERAS)
async def test_a_person_is_asked_about_what_call_tool_calls(tmp_path: Path, mode: str) -> None:
    person = Person("decline", "accept")
    async with connected(hub(tmp_path, 10), mode=mode, elicitation_callback=person) as client:
        denied = failure(await client.call_tool("call_tool", {"name": "port_drop"}))
        assert denied["error_code"] == "denied"
        assert text(await client.call_tool("call_tool", {"name": "port_drop"})) == "gone"
        assert len(person.asked) == 2 and "port_drop" in person.asked[0]


@pytest.mark.requirement("I15.4.24")
async def test_a_toolset_is_searched_and_called_within_itself(tmp_path: Path) -> None:
    config = hub(tmp_path, 10, toolsets={"things": {"tools": ["many_*"]}})
    with http_server(config) as served:
        async with connected(f"{served.url}/mcp/things") as client:
            assert await names(client) == ["search_tools", "call_tool"]
            assert await found(client, "harbour gate") == []
            outside = failure(await client.call_tool("call_tool", {"name": "port_gate"}))
            assert outside["error_code"] == "tool_not_found"
            assert text(await client.call_tool("call_tool", {"name": "many_thing_7"})) == "7"


@pytest.mark.requirement("I15.4.35")
@pytest.mark.parametrize("era", ERAS)
def test_tools_of_a_server_that_is_still_starting_are_waited_for(tmp_path: Path, era: str) -> None:
    starting = tmp_path / "starting"
    starting.mkdir()
    late = raw("meets")
    late["args"] += [str(starting), "2"]
    quick = (mock("gate", "open"), mock("bridge"))
    config = aggregate(tmp_path, {"late": late}, {"search": {"above": 1}}, *quick)
    meta = {} if era == "legacy" else {"_meta": MODERN_META}
    with StdioServer(config) as server:
        if era == "legacy":
            server.handshake()
        server.send(call("search", "search_tools", {"query": "structured"}, **meta))
        server.send(call("late", "call_tool", {"name": "late_two_texts"}, **meta))
        assert server.ask(call("own", "gate", {}, **meta))["id"] == "own"
        (starting / "the other").touch()
        answers: dict[str, Any] = {}
        while len(answers) < 2:
            message = server.receive()
            if "id" in message:  # else it tells that the list of tools has changed
                answers[message["id"]] = message["result"]
    found = json.loads(answers["search"]["content"][0]["text"])
    assert [tool["name"] for tool in found["tools"]][:1] == ["late_structured"]
    assert answers["late"]["content"][0]["text"] == "one"


@pytest.mark.requirement("I15.4.51")
async def test_calls_over_http_and_sse_are_logged_with_their_client(tmp_path: Path) -> None:
    config = aggregate(tmp_path, {"port": own(tmp_path, "port", mock("gate", "open"))}, {})
    with http_server(config, "--log-level", "info", "--log-format", "json") as served:
        about = Implementation(name="old", version="3")
        async with (
            sse_client(f"{served.url}/sse") as streams,
            ClientSession(*streams, client_info=about) as client,
        ):
            await client.initialize()
            await client.list_tools()
            await client.call_tool("port_gate")
        line = json.loads(served.errors.first(lambda line: '"tool": "port_gate"' in line))
        assert line["client"] == "old 3"


@pytest.mark.requirement("I15.4.25")
async def test_each_call_is_logged_with_who_made_it_where_and_what_came_of_it(tmp_path: Path) -> None:
    servers = {"port": own(tmp_path, "port", mock("gate", "open"))}
    tokens = [{"name": "ann", "token": "${ANN}"}]
    config = aggregate(tmp_path, servers, {}, mock("own"), auth={"tokens": tokens})
    environment = {"ANN": "a-token-of-ann-0123456789"}
    options = ("--log-level", "info", "--log-format", "json")
    with http_server(config, *options, env=environment) as served:
        headers = {"Authorization": f"Bearer {environment['ANN']}"}
        async with httpx2.AsyncClient(headers=headers) as http:
            where: Any = streamable_http_client(f"{served.url}/mcp", http_client=http)
            async with connected(where) as client:
                await client.call_tool("port_gate")
                await client.call_tool("own")
        line = json.loads(served.errors.first(lambda line: '"tool": "port_gate"' in line))
        assert (line["tool"], line["server"], line["principal"]) == ("port_gate", "port", "token ann")
        assert line["outcome"] == "ok" and line["ms"] > 0
        ours = json.loads(served.errors.first(lambda line: '"tool": "own"' in line))
        assert (ours["server"], ours["principal"]) == ("", "token ann")
        assert environment["ANN"] not in served.errors.text


@pytest.mark.requirement("I15.4.43")
@pytest.mark.parametrize("mode", ERAS)
async def test_reading_resources_and_getting_prompts_is_logged_like_calls(tmp_path: Path, mode: str) -> None:
    papers = {
        "resources": [{"uri": "paper://one", "name": "one", "text": "One."}],
        "prompts": [{"name": "sum_up", "messages": [{"text": "Sum it up."}]}],
    }
    config = aggregate(tmp_path, {"papers": own(tmp_path, "papers", **papers)}, {})
    with http_server(config, "--log-level", "info", "--log-format", "json") as served:
        about = Implementation(name="reader", version="7")
        async with connected(f"{served.url}/mcp", mode=mode, client_info=about) as client:
            await client.read_resource("paper://one")
            await client.get_prompt("papers_sum_up")
            with pytest.raises(MCPError):
                await client.read_resource("paper://two")
        for key, name, server, outcome in (
            ("resource", "paper://one", "papers", "ok"),
            ("prompt", "papers_sum_up", "papers", "ok"),
            ("resource", "paper://two", "papers", "refused"),
        ):
            mark = f'"{key}": "{name}"'
            line = json.loads(served.errors.first(lambda line, mark=mark: mark in line))
            assert (line["server"], line["outcome"], line["client"]) == (server, outcome, "reader 7")


def named(folder: Path, *names: str) -> dict[str, Any]:
    """A server with tools of these names, whatever they are."""
    tools = [{"name": name, "inputSchema": {"type": "object"}} for name in names]
    (folder / "tools.json").write_text(json.dumps(tools))
    return {
        "command": sys.executable,
        "args": [str(SERVERS / "changing.py"), *[str(folder / "tools.json")] * 2],
    }


@pytest.mark.requirement("I15.4.44")
async def test_tools_whose_names_are_taken_are_named_also_those_of_one_server_and_of_the_search(
    tmp_path: Path,
) -> None:
    odd = named(tmp_path, "a b", "A_B", "call_tool", "c")
    settings = {"search": {"above": 1, "always": ["*"]}, "servers": {"odd": {"prefix": ""}}}
    with http_server(aggregate(tmp_path, {"odd": odd}, settings)) as served:
        async with connected(f"{served.url}/mcp") as client:
            assert await names(client) == ["search_tools", "call_tool", "a_b", "c"]
        served.errors.first(lambda line: "'A_B' left out: it would be called 'A_B', as 'a b' is" in line)
        served.errors.first(lambda line: "the tool 'call_tool' is left out: tools are searched" in line)
