"""One upstream that hangs delays only its own tools, whatever carries the calls."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.raw_http import RawClient, tool_call
from tests.support.served import INITIALIZE, INITIALIZED, Served, StdioServer, call, http_server, tool, until

pytestmark = [pytest.mark.requirement("I9.2.10"), pytest.mark.long]
_RAW = Path(__file__).parents[2] / "support" / "mcp_servers" / "raw.py"
_MANY = 40
_LATE_MS = 200


@contextmanager
def deaf_host() -> Iterator[int]:
    """The port of a web server that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listener:
        yield listener.getsockname()[1]


def config(folder: Path, **limits: int) -> Path:
    """Tools that hang (an upstream's, a web API's, a pipeline of them), and one that does not."""
    hang = {"type": "mcp", "upstream": "raw", "tool": "hang"}
    anything = {"type": "object", "additionalProperties": True}
    steps = [{"id": "all", "tool": "hang", "for_each": "{{ items }}", "concurrency": 4}]
    registry: list[dict[str, Any]] = [
        tool("hang", hang),
        tool("hang_briefly", hang, timeout_ms=_LATE_MS),
        tool("hang_in_line", {"type": "pipeline", "steps": steps}, parameters=anything),
        tool("weather", {"type": "mock", "mock_response": "sunny"}),
    ]
    path = folder / "toolspan.json"
    upstreams = {"raw": {"command": sys.executable, "args": [str(_RAW)]}}
    document = {"services": {"upstreams": upstreams}, "tools": {"registry": registry}, "limits": limits}
    path.write_text(json.dumps(document))
    return path


def hold(stack: ExitStack, server: Served, name: str, arguments: dict[str, Any] | None = None) -> RawClient:
    """A client with a call under way."""
    client = stack.enter_context(RawClient(server.address))
    return client.send(tool_call(name, arguments))


def gauge(server: Served, name: str) -> int:
    with RawClient(server.address) as client:
        text = client.send(b"GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n").answer().body.decode()
    return next(int(float(line.split()[1])) for line in text.splitlines() if line.startswith(f"{name} "))


def told(client: RawClient) -> str:
    """The text of the next answer."""
    return str(client.answer().message["result"]["content"][0]["text"])


def is_answered(server: Served) -> bool:
    with RawClient(server.address) as client:
        return told(client.send(tool_call("weather"))) == "sunny"


def test_more_calls_than_may_run_to_an_upstream_that_hangs_leave_the_others_to_run(tmp_path: Path) -> None:
    with http_server(config(tmp_path)) as server, ExitStack() as stack:
        for _ in range(_MANY):
            hold(stack, server, "hang")
        until(lambda: gauge(server, "toolspan_calls_running") == 12, "three quarters of the calls")
        assert is_answered(server)


def test_pipelines_of_such_calls_do_too(tmp_path: Path) -> None:
    with http_server(config(tmp_path)) as server, ExitStack() as stack:
        for _ in range(_MANY):
            hold(stack, server, "hang_in_line", {"items": [1, 2, 3, 4]})
        until(lambda: gauge(server, "toolspan_calls_running") <= 3, "the pipelines that wait")
        assert is_answered(server)


def test_a_call_over_the_share_and_its_line_is_told_which_limits_it_met(tmp_path: Path) -> None:
    limits = {"concurrent_calls_per_target": 2, "queued_calls_per_target": 3}
    with http_server(config(tmp_path, **limits)) as server, ExitStack() as stack:
        for _ in range(5):
            hold(stack, server, "hang")
        refused = ""

        def is_refused() -> bool:
            nonlocal refused
            with RawClient(server.address) as client:
                refused = told(client.send(tool_call("hang_briefly")))
            return "wait (limits" in refused

        until(is_refused, "a call that finds the line full")
        assert "Too many calls of upstream 'raw': 2 run and 3 wait" in refused
        assert "limits.concurrent_calls_per_target, limits.queued_calls_per_target" in refused


def test_a_call_that_times_out_in_line_is_told_so(tmp_path: Path) -> None:
    with http_server(config(tmp_path, concurrent_calls_per_target=1)) as server, ExitStack() as stack:
        hold(stack, server, "hang")
        until(lambda: gauge(server, "toolspan_calls_running") == 1, "the call that hangs")
        text = told(hold(stack, server, "hang_briefly"))
        assert f"after {_LATE_MS}ms: it waited for its turn among the calls of upstream 'raw'" in text


def test_on_stdio_the_others_run_as_well(tmp_path: Path) -> None:
    with StdioServer(config(tmp_path)) as server:
        server.send(INITIALIZE, INITIALIZED, *(call(number, "hang") for number in range(_MANY)))
        server.send(call("other", "weather"))
        answers = [server.receive(), server.receive()]
        assert [answer["id"] for answer in answers] == ["init", "other"]
