"""W3C trace context goes on to whom a tool asks, and into the log."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from tests.support.talking import talking, tool
from toolspan_server.common.trace_context import outgoing

pytestmark = pytest.mark.requirement("I4.3.3")

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
TRACE = {"traceparent": PARENT, "tracestate": "vendor=1", "baggage": "user=7"}


@pytest.mark.parametrize(
    ("meta", "gone_on"),
    [
        ({}, {}),
        ({**TRACE, "progressToken": 1, "example.com/own": "x"}, TRACE),
        ({**TRACE, "traceparent": "ff" + PARENT[2:]}, {"baggage": "user=7"}),
        ({**TRACE, "traceparent": PARENT.upper()}, {"baggage": "user=7"}),
        ({**TRACE, "traceparent": "00-" + "0" * 32 + PARENT[35:]}, {"baggage": "user=7"}),
        ({**TRACE, "traceparent": 5, "baggage": "a\r\nevil: 1"}, {}),
        ({**TRACE, "tracestate": "x" * 513}, {"traceparent": PARENT, "baggage": "user=7"}),
    ],
)
def test_only_what_has_the_right_form_goes_on(meta: dict[str, Any], gone_on: dict[str, str]) -> None:
    assert outgoing(meta) == gone_on


@pytest.mark.anyio
async def test_a_call_is_logged_with_its_trace(caplog: pytest.LogCaptureFixture) -> None:
    async def plain(_arguments: Any, _context: Any) -> str:
        return "done"

    caplog.set_level(logging.DEBUG, "toolspan_server.common.trace_context")
    mock = {"name": "short", "description": "Short.", "implementation": {"type": "mock"}}
    async with talking(tool("long", plain), mock) as server:
        for name in ("short", "long"):
            await server.call(name, meta=TRACE)
    told = f"in traceparent={PARENT} tracestate=vendor=1 baggage=user=7"
    assert caplog.messages == [f"call of short {told}", f"call of long {told}"]
