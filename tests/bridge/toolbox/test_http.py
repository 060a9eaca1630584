"""The toolbox over Streamable HTTP and HTTP+SSE, against servers that no one here wrote and bad ones."""

from __future__ import annotations

from collections.abc import Iterator

import anyio
import pytest

from tests.support.mcp_peers import answers, call, free_port, sdk_over
from tests.support.waiting import BOUND_S
from toolspan_bridge.toolbox import Toolbox
from toolspan_server.engines.upstreams import ServerSpec

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I2.6.1")]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with answers() as address:
        yield address


@pytest.mark.parametrize("transport", ["http", "sse"])
async def test_a_server_over_http_is_listed_and_called(transport: str) -> None:
    with sdk_over(transport) as url, anyio.fail_after(BOUND_S):
        spec = ServerSpec("web", kind="http" if transport == "http" else "sse", url=url)
        async with Toolbox.connect([spec]) as toolbox:
            assert toolbox.failures == ()
            assert {tool.name for tool in toolbox.tools} == {"add", "fail", "greet"}
            assert (await call(toolbox, "greet", name="Ada")).result["result"] == {"result": "Hello, Ada!"}
            failed = (await call(toolbox, "fail")).result
            assert (failed["success"], failed["error_code"]) == (False, "tool_error")


async def test_a_server_over_http_that_goes_away_fails_its_calls_and_nothing_else() -> None:
    with anyio.fail_after(BOUND_S):
        gone = sdk_over("http")
        url = gone.__enter__()
        async with Toolbox.connect([ServerSpec("web", kind="http", url=url)]) as toolbox:
            assert (await call(toolbox, "add", a=1, b=2)).result["success"]
            gone.__exit__(None, None, None)
            for _ in range(2):
                failed = (await call(toolbox, "add", a=1, b=2)).result
                assert failed["error_code"] == "server_unavailable", failed
            assert "nothing answers" in failed["error"] or "was lost" in failed["error"]


@pytest.mark.parametrize("kind", ["http", "sse"])
async def test_an_address_where_nothing_listens_is_named_without_its_secrets(kind: str) -> None:
    port = free_port()
    url = f"http://user:pass@127.0.0.1:{port}/sse?key=secret"
    with anyio.fail_after(BOUND_S):
        async with Toolbox.connect([ServerSpec("web", kind=kind, url=url)]) as toolbox:  # type: ignore[arg-type] # a parameter
            (failure,) = toolbox.failures
    assert failure.reason == f"nothing answers at http://127.0.0.1:{port}/sse (start it, or correct the url)"


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        (
            "401",
            'answered HTTP 401 (set the credentials that it wants in "headers", or run: toolspan servers ',
        ),
        ("404", "answered HTTP 404 (is the url that of an MCP endpoint?)"),
        ("500", "answered HTTP 500"),
        ("html", "Unexpected content type: text/html"),
        ("endless", "the answer is longer than 4194304 bytes"),
        ("gzip", "compressed its answer"),
        ("elsewhere", "not followed"),
    ],
)
async def test_an_address_that_is_no_mcp_endpoint_says_what_it_answered(
    address: str, path: str, reason: str
) -> None:
    with anyio.fail_after(BOUND_S):
        async with Toolbox.connect([ServerSpec("web", kind="http", url=f"{address}/{path}")]) as toolbox:
            (failure,) = toolbox.failures
    assert reason in failure.reason
    assert failure.reason.startswith(address)


async def test_a_silent_address_is_given_up_after_the_time_to_connect(address: str) -> None:
    spec = ServerSpec("web", kind="http", url=f"{address}/silent")
    with anyio.fail_after(BOUND_S):
        async with Toolbox.connect([spec], connect_timeout=0.5) as toolbox:
            assert "no answer within 0.5 s" in toolbox.failures[0].reason
