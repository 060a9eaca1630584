"""An aggregate whose server is killed within calls, and one of thousands of tools."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from tests.support.aggregates import ERAS, aggregate, connected, failure, mock, names, own, text
from tests.support.processes import processor_seconds
from tests.support.served import http_server
from tests.support.upstreams import SERVERS, raw, until
from tests.support.waiting import BOUND_S

AGAIN = 20
"""How often all tools are listed or searched."""

pytestmark = [pytest.mark.long, pytest.mark.anyio]


def program_of(mark: str) -> int:
    """The process of ``raw.py`` that was started with ``mark`` among its arguments."""
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                words = (folder / "cmdline").read_bytes().decode().split("\0")
            except (FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
                continue
            if mark in words and words[1].endswith("raw.py"):
                return int(folder.name)
    raise AssertionError(f"no process has {mark} among its arguments")


@pytest.mark.requirement("I15.4.32")
@pytest.mark.skipif(sys.platform != "linux", reason="finds the server's process by /proc")
@pytest.mark.parametrize("mode", ERAS)
async def test_a_server_killed_within_calls_fails_these_alone_and_comes_back(
    tmp_path: Path, mode: str
) -> None:
    frail = raw()
    frail["args"].append(str(tmp_path))
    servers = {"frail": frail, "firm": own(tmp_path, "firm", mock("find", "found"))}
    failed: list[dict[str, Any]] = []

    async def hang(client: Client, note: str) -> None:
        failed.append(failure(await client.call_tool("frail_hang", {"note": str(tmp_path / note)})))

    with http_server(aggregate(tmp_path, servers, {})) as served:
        where = f"{served.url}/mcp"
        async with connected(where, mode=mode) as ann, connected(where, mode=mode) as bob:
            async with anyio.create_task_group() as tasks:
                for client, note in ((ann, "ann"), (bob, "bob")):
                    tasks.start_soon(hang, client, note)
                    await until((tmp_path / f"{note}.started").exists)
                os.kill(program_of(str(tmp_path)), signal.SIGKILL)
                assert text(await ann.call_tool("firm_find")) == "found"
            assert [each["error_code"] for each in failed] == ["upstream_unavailable"] * 2
            assert all("frail" in each["error"] and each["user_action"] for each in failed)
            while (back := await bob.call_tool("frail_two_texts")).is_error:
                assert failure(back)["error_code"] == "upstream_unavailable"
            assert text(back) == "one"
            assert text(await ann.call_tool("frail_two_texts")) == "one"


def listing(folder: Path, name: str, count: int) -> dict[str, Any]:
    """A server that lists ``count`` tools."""
    schema = {"type": "object", "properties": {"query": {"type": "string", "description": "Words."}}}
    tools = [
        {"name": f"{name}_{number}", "description": f"Opens gate {number} of {name}.", "inputSchema": schema}
        for number in range(count)
    ]
    path = folder / f"{name}_{count}.json"
    path.write_text(json.dumps(tools))
    return {"command": sys.executable, "args": [str(SERVERS / "listing.py"), str(path)]}


async def work(folder: Path, count: int, *, search: bool) -> tuple[float, float]:
    """The seconds of processor time in which an aggregate of ``count`` tools of three servers has started and
    listed or searched them once, and in which it then does that again and again."""
    counts = {"north": count // 3, "south": count // 3, "west": count - 2 * (count // 3)}
    servers = {name: listing(folder, name, number) for name, number in counts.items()}
    each = {name: {"prefix": "", "max_tools": 5_000} for name in servers}
    settings: dict[str, Any] = {"servers": each, "search": {"above": 1}} if search else {"servers": each}
    limits = {"page_size": 100, "upstream_connect_seconds": BOUND_S}
    with http_server(aggregate(folder, servers, settings, limits=limits)) as served:
        async with connected(f"{served.url}/mcp", cache=None) as client:
            act = searched if search else listed
            await act(client, count)
            started = processor_seconds(served.process.pid)
            for _ in range(AGAIN):
                await act(client, count)
            return started, processor_seconds(served.process.pid) - started


async def listed(client: Client, count: int) -> None:
    """List all tools, page after page."""
    found = await names(client)
    assert len(found) == len(set(found)) == count


async def searched(client: Client, count: int) -> None:
    """Find five tools, of which the first is the one that is meant."""
    for number in range(5):
        words = {"query": f"open gate {number} of the west", "limit": 5}
        found = json.loads(text(await client.call_tool("search_tools", words)))
        assert found["of"] == count and found["tools"][0]["name"] == f"west_{number}"


@pytest.mark.requirement("I15.4.33")
@pytest.mark.skipif(sys.platform != "linux", reason="reads the server's processor time from /proc")
@pytest.mark.parametrize("search", [False, True], ids=["listed", "searched"])
async def test_five_thousand_tools_of_three_servers_take_work_in_proportion(
    tmp_path: Path, *, search: bool
) -> None:
    base, _ = await work(tmp_path, 60, search=search)
    few_at_start, few = await work(tmp_path, 2_000, search=search)
    many_at_start, many = await work(tmp_path, 5_000, search=search)
    assert many < 4 * few, f"{few:.2f} s, and {many:.2f} s of 2.5 times as many"
    start = (base, few_at_start, many_at_start)
    assert many_at_start - base < 4 * max(few_at_start - base, 0.25), f"starting: {start} s"
