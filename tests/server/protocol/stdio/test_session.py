"""Faults of our own: whatever breaks inside, the request is answered and the next one served."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.corpus import initialize, request
from tests.support.served import write_config
from tests.support.two_ways import served
from toolspan_server import load_config, running
from toolspan_server.live.views import ServerView
from toolspan_server.protocol.fast_path import Call, FastPath
from toolspan_server.protocol.messages import jsonrpc
from toolspan_server.protocol.sdk import server as sdk
from toolspan_server.protocol.stdio import session

pytestmark = pytest.mark.anyio
CURSOR = request("tools/list", {"cursor": "2"}, 1)
CALL = request("tools/call", {"name": "add"}, 2)
PING = request("ping", {}, 3)


@pytest.fixture
async def running_config(tmp_path: Path) -> AsyncIterator[ServerView]:
    config = load_config(write_config(tmp_path))
    async with running(config) as runtime:
        yield ServerView(runtime)


def broken(*_: Any, **__: Any) -> Any:
    raise RuntimeError("broken inside")


async def codes(running_config: ServerView, *lines: Any) -> dict[Any, int]:
    """Each answer's error code by its id; 0 for a result."""
    got = await served(running_config, initialize(), *lines)
    return {answer.get("id"): answer.get("error", {}).get("code", 0) for answer in got}


@pytest.mark.requirement("I3.1.1", "I3.3.1")
async def test_without_the_sdk_its_requests_get_errors_and_plain_ones_their_results(
    running_config: ServerView, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sdk, "build_server", broken)
    again = {**CURSOR, "id": 4}
    got = await codes(running_config, CURSOR, CALL, again, PING)
    assert got == {0: 0, 1: jsonrpc.INTERNAL_ERROR, 2: 0, 3: 0, 4: jsonrpc.INTERNAL_ERROR}


@pytest.mark.requirement("I3.1.1")
@pytest.mark.parametrize("place", [(FastPath, "answer"), (Call, "run"), (session.SdkFallback, "ask")])
async def test_a_fault_on_the_way_costs_only_the_request(
    running_config: ServerView, monkeypatch: pytest.MonkeyPatch, place: tuple[type, str]
) -> None:
    monkeypatch.setattr(*place, broken)
    got = await codes(running_config, CURSOR, CALL, initialize("2025-11-25", 5))
    assert got.keys() == {0, 1, 2, 5}
    assert jsonrpc.INTERNAL_ERROR in got.values()
    assert got[0] == 0


@pytest.mark.requirement("I3.1.1")
async def test_a_fault_before_the_id_is_known_is_answered_too(
    running_config: ServerView, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jsonrpc, "checked", broken)
    assert await codes(running_config, PING) == {None: jsonrpc.INTERNAL_ERROR}
