"""What becomes of servers behind an aggregate when its config changes while it is served."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import anyio.lowlevel
import pytest

from tests.support.aggregates import aggregate, connected, mock, names, own, text
from tests.support.served import http_server

pytestmark = [pytest.mark.long, pytest.mark.anyio]

_NOTED = "import sys, runpy; open(sys.argv.pop(1), 'a').write('started '); sys.argv[0] = 'server'; "
_NOTED += "runpy.run_module('toolspan_server', run_name='__main__')"


def noted(folder: Path, name: str, *tools: Any, **more: Any) -> dict[str, Any]:
    """A server of ours that writes down each of its starts in the file NAME.starts."""
    entry = own(folder, name, *tools, **more)
    arguments = ["-c", _NOTED, str(folder / f"{name}.starts"), *entry["args"][2:]]
    return {"command": entry["command"], "args": arguments}


def starts(folder: Path, name: str) -> int:
    return (folder / f"{name}.starts").read_text().count("started")


@pytest.mark.requirement("I15.4.41")
async def test_servers_that_a_changed_config_leaves_as_they_are_go_on_and_clients_hear_what_changes(
    tmp_path: Path,
) -> None:
    papers = {
        "resources": [{"uri": "paper://one", "name": "one", "text": "One."}],
        "prompts": [{"name": "sum_up", "messages": [{"text": "Sum it up."}]}],
    }
    servers = {
        "first": noted(tmp_path, "first", mock("find", "of first")),
        "papers": noted(tmp_path, "papers", mock("count", 1), **papers),
    }
    heard: Counter[str] = Counter()
    news = anyio.Semaphore(0)

    async def told(message: Any) -> None:
        heard[getattr(message, "method", "")] += 1
        news.release()

    with http_server(aggregate(tmp_path, servers, {})) as served:
        async with connected(f"{served.url}/mcp", mode="legacy", message_handler=told) as client:
            assert await names(client) == ["first_find", "papers_count"]
            assert [each.name for each in (await client.list_prompts()).prompts] == ["papers_sum_up"]
            more = {**servers, "second": noted(tmp_path, "second", mock("find", "of second"))}
            aggregate(tmp_path, more, {})
            while "second_find" not in await names(client):
                await news.acquire()
            assert text(await client.call_tool("first_find")) == "of first"
            heard.clear()
            aggregate(tmp_path, {"first": servers["first"], "second": more["second"]}, {})
            lists = ("tools", "resources", "prompts")
            while not all(heard[f"notifications/{each}/list_changed"] for each in lists):
                await news.acquire()
            assert await names(client) == ["first_find", "second_find"]
            assert (await client.list_prompts()).prompts == []
            assert (await client.list_resources()).resources == []
            assert text(await client.call_tool("second_find")) == "of second"
    assert [starts(tmp_path, name) for name in ("first", "papers", "second")] == [1, 1, 1]


@pytest.mark.requirement("I15.4.41")
async def test_a_server_whose_entry_changes_alone_is_started_again(tmp_path: Path) -> None:
    servers = {name: noted(tmp_path, name, mock("find", f"of {name}")) for name in ("first", "second")}
    with http_server(aggregate(tmp_path, servers, {})) as served:
        async with connected(f"{served.url}/mcp") as client:
            assert text(await client.call_tool("second_find")) == "of second"
            changed = {**servers["second"], "env": {"OTHER": "1"}}
            aggregate(tmp_path, {**servers, "second": changed}, {"servers": {"second": {"prefix": "b_"}}})
            while await names(client) != ["first_find", "b_find"]:
                await anyio.lowlevel.checkpoint()
            assert text(await client.call_tool("b_find")) == "of second"
    assert [starts(tmp_path, name) for name in ("first", "second")] == [1, 2]
