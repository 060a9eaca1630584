"""When a request is made again, when it is given up, and when it is not made at all."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from email.utils import formatdate
from typing import Any

import anyio
import pytest

from tests.support.http_api import HANG, Api, data, http_tool, response, serving
from tests.support.waiting import BOUND_S
from toolspan_server.engines.http_client._circuit import Circuit, HttpCircuit
from toolspan_server.engines.http_client._retry import retry_after
from toolspan_server.errors import ToolFailure

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I4.2.3", "I4.4.1")]


@pytest.fixture
async def api() -> AsyncGenerator[Api]:
    async with serving() as api:
        yield api


class Waits(list[float]):
    """Notes how long is slept, and does not sleep."""

    async def __call__(self, seconds: float) -> None:
        self.append(seconds)


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
async def test_a_failure_that_may_pass_is_tried_again(api: Api, status: int) -> None:
    api.replies(response(status=status), response(status=status), data("ok"))
    waits = Waits()
    async with http_tool(api.url, sleep=waits, retry={"max_attempts": 3, "backoff_ms": 100}) as call:
        assert (await call()).result == "ok"
    assert len(waits) == 2 and 0 <= waits[0] <= 0.1 and 0 <= waits[1] <= 0.2


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 422, 451, 501])
async def test_a_failure_that_stays_is_not(api: Api, status: int) -> None:
    api.reply = lambda _: response("no", status, Content_Type="text/plain")
    async with http_tool(api.url) as call:
        result = await call()
    assert (result.error_code, len(api.seen)) == (f"http_{status}", 1)


@pytest.mark.parametrize(
    ("asked", "waited"),
    [("7", 7), ("0", None), ("-5", None), ("soon", None), ("1e1", None), ("", None), ("9" * 400, None)],
)
async def test_retry_after_is_honoured_when_it_says_something(
    api: Api, asked: str, waited: float | None
) -> None:
    api.replies(response(status=429, Retry_After=asked), data("ok"))
    waits = Waits()
    async with http_tool(api.url, sleep=waits, retry={"backoff_ms": 1}) as call:
        assert (await call()).result == "ok"
    assert waits == [waited] if waited else waits[0] <= 0.001


async def test_a_retry_after_of_more_than_30_seconds_ends_it(api: Api) -> None:
    api.reply = lambda _: response(status=503, Retry_After="31")
    async with http_tool(api.url, sleep=Waits(), timeout_ms=120_000) as call:
        assert (await call()).error_code == "http_503"
    assert len(api.seen) == 1


def test_retry_after_may_be_a_date() -> None:
    assert 3_000 < (retry_after(formatdate(time.time() + 3_600, usegmt=True)) or 0) <= 3_600
    assert retry_after("Wed, 21 Oct 2015 07:28:00 GMT") == 0
    assert retry_after("Wed, 99 Oct 99999 07:28:00 GMT") is None


@pytest.mark.parametrize("method", ["POST", "PATCH"])
async def test_what_may_have_been_done_is_not_done_twice(api: Api, method: str) -> None:
    api.reply = lambda _: response(status=503)
    async with http_tool(api.url, method=method) as call:
        assert (await call()).error_code == "http_503"
        api.reply = lambda _: b""
        assert (await call()).error_code == "connection_failed"
    assert len(api.seen) == 2


async def test_a_post_is_repeated_where_the_config_says_so(api: Api) -> None:
    api.replies(response(status=503), b"", data("ok"))
    async with http_tool(api.url, method="POST", retry={"unsafe": True, "backoff_ms": 1}) as call:
        assert (await call(a=1)).result == "ok"
    assert [seen.json for seen in api.seen] == [{"a": 1}] * 3


async def test_a_request_that_never_left_is_repeated_whatever_its_method() -> None:
    waits = Waits()
    async with http_tool("http://127.0.0.1:9/", method="POST", sleep=waits) as call:
        assert "it refuses" in (await call()).error
    assert len(waits) == 2


async def test_a_broken_connection_is_tried_again_for_a_get(api: Api) -> None:
    short = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nsho"
    api.replies(b"", [short, b""], [b"nonsense\r\n\r\n", b""], data("ok"))
    async with http_tool(api.url, retry={"max_attempts": 4, "backoff_ms": 1}) as call:
        assert (await call()).result == "ok"


async def test_all_attempts_share_one_deadline(api: Api) -> None:
    api.reply = lambda _: response(status=503, Retry_After="5")
    waits = Waits()
    async with http_tool(api.url, sleep=waits, timeout_ms=2_000) as call:
        assert (await call()).error_code == "http_503"
    assert waits == []


@pytest.mark.parametrize("drips", [False, True])
async def test_a_silent_or_dripping_answer_ends_at_the_deadline(api: Api, drips: bool) -> None:
    dripped = [b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n", b"x", b"y"]
    api.reply = lambda _: dripped if drips else HANG
    async with http_tool(api.url, timeout_ms=100) as call:
        result = await call()
    assert (result.error_code, result.error) == ("timeout", "127.0.0.1 did not answer within 100 ms")


async def test_a_cancelled_call_closes_its_connection(api: Api) -> None:
    api.reply = lambda _: HANG
    async with http_tool(api.url) as call, anyio.create_task_group() as group:
        group.start_soon(call)
        with anyio.fail_after(BOUND_S):
            while not api.seen:
                await anyio.lowlevel.checkpoint()
            group.cancel_scope.cancel()
    with anyio.fail_after(BOUND_S):
        await api.closed.wait()


async def test_connections_are_used_again_and_closed_with_the_server(api: Api) -> None:
    async with http_tool(api.url) as call:
        for _ in range(5):
            assert (await call()).success
        assert api.connections == 1 and not api.closed.is_set()
    with anyio.fail_after(BOUND_S):
        await api.closed.wait()


async def test_a_host_that_fails_again_and_again_is_left_alone(api: Api) -> None:
    api.reply = lambda _: response(status=500)
    settings: Any = {"retry": {"max_attempts": 1}, "circuit_breaker": {"failures": 2, "open_ms": 60_000}}
    async with http_tool(api.url, **settings) as call:
        codes = [(await call()).error_code for _ in range(4)]
    assert codes == ["http_500", "http_500", "circuit_open", "circuit_open"]
    assert len(api.seen) == 2


async def test_a_refused_request_does_not_count_as_a_failure_of_the_host(api: Api) -> None:
    api.reply = lambda _: response(status=404)
    async with http_tool(api.url, circuit_breaker={"failures": 1}) as call:
        assert [(await call()).error_code for _ in range(3)] == ["http_404"] * 3


def test_an_open_circuit_lets_one_call_through_to_see() -> None:
    now = 0.0
    circuit = Circuit(HttpCircuit(failures=1, open_ms=1_000), lambda: now)
    with circuit.passing("h"):
        circuit.note(failed=True)
    with pytest.raises(ToolFailure, match="asked again in 1 s"), circuit.passing("h"):
        pass
    now = 1.5
    with circuit.passing("h"):
        with pytest.raises(ToolFailure), circuit.passing("h"):
            pass
        circuit.note(failed=True)
    with pytest.raises(ToolFailure), circuit.passing("h"):
        pass
    now = 3.0
    with circuit.passing("h"):
        circuit.note(failed=False)
    with circuit.passing("h"), circuit.passing("h"):
        pass
