"""Very many tools of an upstream are taken in while everything else goes on."""

from __future__ import annotations

import gc
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from tests.support.upstreams import SERVERS, served
from toolspan_server.common.slices import in_slices, some, without_pauses
from toolspan_server.engines.upstreams import ListedTool
from toolspan_server.tools.sources._upstream_tools import offered
from toolspan_server.tools.sources.mcp import Config

pytestmark = [pytest.mark.long, pytest.mark.anyio, pytest.mark.requirement("I9.2.15")]

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}


@pytest.fixture
def thawed() -> Iterator[None]:
    yield
    gc.unfreeze()


async def longest_gap(done: anyio.Event) -> float:
    """The longest time in which nothing else was done, until ``done``."""
    longest, last = 0.0, time.monotonic()
    while not done.is_set():
        await anyio.lowlevel.checkpoint()
        now = time.monotonic()
        longest, last = max(longest, now - last), now
    return longest


@pytest.mark.usefixtures("thawed")
async def test_tools_are_made_ours_in_slices() -> None:
    listed = [ListedTool(f"t{number}", "Does it.", SCHEMA) for number in range(4_000)]
    done, gaps = anyio.Event(), list[float]()

    async def watch() -> None:
        gaps.append(await longest_gap(done))

    started = time.monotonic()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(watch)
        found = await offered(Config(upstream="u", prefix="u_"), listed)
        took = time.monotonic() - started
        done.set()
    assert len(found.tools) == 4_000 and found.tools[-1].name == "u_t3999"
    assert gaps[0] < took / 4


@pytest.mark.usefixtures("thawed")
async def test_a_page_of_more_tools_than_are_taken_is_read_no_further(tmp_path: Path) -> None:
    file = tmp_path / "tools.json"
    tools = [{"name": f"t{number}", "inputSchema": SCHEMA} for number in range(10_000)]
    file.write_text(json.dumps([*tools[:3], {"name": 7}, *tools[3:]]))
    upstream = {"command": sys.executable, "args": [str(SERVERS / "listing.py"), str(file)], "max_tools": 5}
    async with served(tmp_path, {"many": upstream}) as runtime:
        assert [tool.name for tool in runtime.registry] == ["t0", "t1", "t2", "t3", "t4"]


@pytest.mark.usefixtures("thawed")
async def test_what_was_made_is_left_out_of_the_search_for_garbage() -> None:
    before = gc.get_freeze_count()
    made = [{"number": number} async for number in in_slices(range(1_999))]
    assert gc.get_freeze_count() == before
    made += [{"number": number} for number in without_pauses(range(2_000))]
    assert gc.get_freeze_count() > before and len(made) == 3_999


def test_of_very_many_warnings_the_first_are_told_and_how_many_there_are() -> None:
    assert some(["a", "b"]) == ["a", "b"]
    assert some([str(number) for number in range(50_000)])[19:] == ["19", "and 49980 more of that kind"]
