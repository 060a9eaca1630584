"""What /healthz, /readyz and /metrics tell."""

from __future__ import annotations

import re
import subprocess
import sys
import timeit
from pathlib import Path

import anyio
import pytest

from tests.server.http_server.auth.test_tokens import ANN, ask, served
from tests.support.asgi import Client
from tests.support.exposition import sample, samples
from toolspan_server import Config, running
from toolspan_server.calls.results import ToolResult
from toolspan_server.errors import ToolFailure
from toolspan_server.http_server.access import AccessOptions
from toolspan_server.live.metrics import MOST_TOOLS, OTHER, Metrics
from toolspan_server.protocol.http.app import Application

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I4.3.8")]
_LINE = re.compile(r'[a-z_]+(\{([a-z_]+="([^"\\\n]|\\[\\"n])*",?)*\})? [0-9.e+-]+|# (HELP|TYPE) [a-z_]+ .+')
CALLS, REFUSED = "toolspan_tool_calls_total", "toolspan_requests_refused_total"


def done(tool: str, ms: float = 1, code: str = "") -> ToolResult:
    if code:
        return ToolResult.failed(ToolFailure("no", error_code=code), tool, ms)
    return ToolResult(success=True, tool_name=tool, execution_time_ms=ms)


async def test_calls_are_counted_by_tool_and_outcome_with_their_times(tmp_path: Path) -> None:
    async with served(tmp_path) as application:
        assert (await ask(application, None)).status == 200
        assert (await ask(application, None)).status == 200
        text = (await Client(application.app).ask("GET", path="/metrics")).body.decode()
    assert all(_LINE.fullmatch(line) for line in text.splitlines()), text
    assert sample(text, "toolspan_tool_calls_total", tool="add", outcome="success") == 2
    assert sample(text, "toolspan_tool_duration_seconds_bucket", tool="add", le="+Inf") == 2
    assert sample(text, "toolspan_tool_duration_seconds_count", tool="add") == 2
    assert sample(text, "toolspan_calls_running") == 0
    assert sample(text, "toolspan_tools") == 3
    assert sample(text, "toolspan_config_reloads_total", outcome="served") == 0


def test_a_histogram_is_cumulative_and_in_seconds() -> None:
    metrics = Metrics({"process": "7"})
    for ms in (0.5, 2.5, 40, 99_999):
        metrics.called(done("t", ms))
    text = metrics.text()

    def told(suffix: str, **labels: str) -> float | None:
        return sample(text, f"toolspan_tool_duration_seconds_{suffix}", process="7", tool="t", **labels)

    for bound, count in (("0.001", 1), ("0.0025", 2), ("0.05", 3), ("30", 3), ("+Inf", 4)):
        assert told("bucket", le=bound) == count
    assert told("sum") == pytest.approx(100.042)


def test_labels_are_bounded_and_escaped() -> None:
    metrics = Metrics()
    metrics.called(done('a"b\\c\n'))
    for number in range(3_000):
        metrics.called(done(f"tool-{number}", code=f"code-{number}"))
        metrics.called(done(f"unknown-{number}", code="tool_not_found"))
    text = metrics.text()
    assert sample(text, "toolspan_tool_calls_total", tool='a"b\\c\n', outcome="success") == 1
    assert len(text.splitlines()) < (MOST_TOOLS + 1) * 40
    assert "unknown-" not in text
    assert sample(text, "toolspan_tool_calls_total", tool=OTHER, outcome=OTHER) is not None
    assert all(_LINE.fullmatch(line) for line in text.splitlines())


async def test_no_two_samples_have_the_same_labels() -> None:
    sources = [{"type": "mcp", "upstream": "off", "prefix": prefix} for prefix in ("a_", "b_")]
    upstreams = {"off": {"command": "none", "disabled": True}}
    config = {"tools": {"sources": sources}, "services": {"upstreams": upstreams}}
    async with running(Config.model_validate(config)) as runtime, anyio.create_task_group() as helpers:
        text = Application(runtime, AccessOptions("127.0.0.1"), helpers).metrics.text()
        helpers.cancel_scope.cancel()
    assert ("toolspan_up", frozenset({("kind", "source"), ("name", "off")})) in samples(text)


async def test_refused_requests_are_counted_by_reason(tmp_path: Path) -> None:
    async with served(tmp_path, auth={"tokens": [{"name": "ann", "token": ANN}]}) as application:
        client = Client(application.app)
        for headers in ({}, {"authorization": "Bearer wrong"}, {"origin": "http://evil.example"}):
            await client.ask("GET", headers=headers)
        reply = await client.ask("GET", headers={"authorization": f"Bearer {ANN}"}, path="/metrics")
    refused = {
        reason: sample(reply.body.decode(), REFUSED, reason=reason) for reason in ("no_token", "not_allowed")
    }
    assert refused == {"no_token": 2, "not_allowed": 1}


async def test_metrics_and_readiness_need_a_token_and_health_does_not(tmp_path: Path) -> None:
    async with served(tmp_path, auth={"tokens": [{"name": "ann", "token": ANN}]}) as application:
        client = Client(application.app)
        assert [
            (await client.ask("GET", path=path)).status for path in ("/healthz", "/readyz", "/metrics")
        ] == [
            200,
            401,
            401,
        ]


async def test_readiness_tells_of_a_config_that_was_refused(tmp_path: Path) -> None:
    async with served(tmp_path) as application:
        client = Client(application.app)
        ready = await client.ask("GET", path="/readyz")
        assert (ready.status, ready.message["config"]["problems"]) == (200, [])
        application.runtime.refuse(["toolspan.yaml:3:1: wrong"])
        ready = await client.ask("GET", path="/readyz")
        assert (ready.status, ready.message["config"]["problems"]) == (503, ["toolspan.yaml:3:1: wrong"])
        assert (await client.ask("GET", path="/healthz")).status == 200
        text = (await client.ask("GET", path="/metrics")).body.decode()
        assert sample(text, "toolspan_config_reloads_total", outcome="refused") == 1


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics"])
async def test_status_is_read_and_nothing_else(tmp_path: Path, path: str) -> None:
    async with served(tmp_path) as application:
        client = Client(application.app)
        head = await client.ask("HEAD", path=path)
        assert (head.status, head.body) == (200, b"")
        posted = await client.ask("POST", b"{}", {"content-type": "application/json"}, path=path)
        assert (posted.status, posted.headers["allow"]) == (405, "GET, HEAD")


def test_counting_a_call_costs_next_to_nothing() -> None:
    metrics, result = Metrics(), done("add", 3.2)
    metrics.called(result)
    seconds = min(timeit.repeat(lambda: metrics.called(result), number=1_000, repeat=10)) / 1_000
    assert seconds < 10e-6


@pytest.mark.requirement("I10.4.3")
async def test_each_server_has_a_registry_of_its_own(tmp_path: Path) -> None:
    one, other = Metrics({"process": "1"}), Metrics({"process": "2"})
    one.called(done("add"))
    for metrics, process, count in ((one, "1", 1), (other, "2", None)):
        assert sample(metrics.text(), CALLS, process=process, tool="add", outcome="success") == count
    for _ in range(2):
        async with served(tmp_path) as application:
            text = (await Client(application.app).ask("GET", path="/metrics")).body.decode()
            assert not [name for name, _ in samples(text) if not name.startswith("toolspan_")]


@pytest.mark.requirement("I10.4.3")
def test_nothing_of_the_library_is_imported_before_the_metrics_are_asked_for() -> None:
    code = (
        "import sys; from toolspan_server.protocol.http.app import Application; "
        "from toolspan_server.live.metrics import Metrics; metrics = Metrics(); metrics.refused('x'); "
        "before = 'prometheus_client' in sys.modules; metrics.text(); "
        "print(before, 'prometheus_client' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
