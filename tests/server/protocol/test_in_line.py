"""A call's time-out is all that its client waits: the line for a place included, whatever carries it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.raw_http import Answer, RawClient, tool_call
from tests.support.served import StdioServer, call, http_server, tool, until, write_config

pytestmark = pytest.mark.requirement("I9.1.1")
_LATE = "timed out after 200ms: it waited for its turn among all calls (limits.concurrent_calls)"


def config(folder: Path) -> Path:
    """One place for calls; a tool that holds it, and one that has little time."""
    path = write_config(folder, limits={"concurrent_calls": 1})
    document: dict[str, Any] = json.loads(path.read_text())
    document["tools"]["registry"] += [
        tool("hold", {"type": "mock", "delay_ms": 3_600_000, "mock_response": "held"}, timeout_ms=3_600_000),
        tool("brief", {"type": "mock", "mock_response": "done"}, timeout_ms=200),
    ]
    path.write_text(json.dumps(document))
    return path


def is_late(answer: Answer) -> bool:
    """Whether the call was given up in line; it may have come before the one that holds the place."""
    result = answer.message["result"]
    return result["isError"] and _LATE in result["structuredContent"]["error"]


def test_over_http_a_call_that_waits_too_long_in_line_is_told_which_limit_it_met(tmp_path: Path) -> None:
    with http_server(config(tmp_path)) as server, RawClient(server.address) as client:
        with RawClient(server.address) as holder:
            holder.send(tool_call("hold"))
            until(lambda: is_late(client.send(tool_call("brief")).answer()), "the place to be held")
        assert client.send(tool_call("add")).answer().message["result"]["isError"] is False


def test_on_stdio_every_call_behind_one_that_hangs_is_answered_in_its_time(tmp_path: Path) -> None:
    with StdioServer(config(tmp_path)) as server:
        server.handshake()
        server.send(call("hold", "hold"), *(call(number, "brief") for number in range(200)))
        answers = [server.receive() for _ in range(200)]
        assert sorted(answer["id"] for answer in answers) == list(range(200))
        assert all(_LATE in answer["result"]["structuredContent"]["error"] for answer in answers)
