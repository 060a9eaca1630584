"""One corpus down both ways: what stdio answers is what the SDK alone answers, save what is listed."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.corpus import SEQUENCES, cases, initialize, notification, request
from tests.support.served import tool
from tests.support.two_ways import answered_by_the_sdk, served, settled
from toolspan_server import load_config, running
from toolspan_server.live.views import ServerView
from toolspan_server.protocol.fast_path import HANDSHAKE_VERSIONS, MODERN_VERSION

pytestmark = pytest.mark.anyio
ALL = (*HANDSHAKE_VERSIONS, MODERN_VERSION)
CASES = cases()

NULL_RESULT = (
    "MCP 2026-07-28, schema, CallToolResult.structuredContent: 'This can be any JSON value (object, array, "
    "string, number, boolean, or null)'; the SDK leaves a null out."
)
NULL_IN_SCHEMA = (
    "MCP 2026-07-28, schema, Tool.inputSchema: 'any JSON Schema 2020-12 keyword may appear alongside type', "
    "and its value may be null; the SDK leaves out the members at the root that are null."
)
DIFFERENCES = {
    f"{MODERN_VERSION}: a null result": NULL_RESULT,
    **{f"{version}: tools/list": NULL_IN_SCHEMA for version in ALL},
    **{f"{version}: tools/list with a token": NULL_IN_SCHEMA for version in ALL},
    **{f"{version}: tools/list without params": NULL_IN_SCHEMA for version in HANDSHAKE_VERSIONS},
}
"""What may differ, by the case's name, with the reason."""


@pytest.fixture
async def running_config(tmp_path: Path) -> AsyncIterator[ServerView]:
    schema = {
        "type": "object",
        "properties": {"value": {"type": ["string", "null", "object"], "default": None}},
        "x-owner": None,
    }
    weather = {"type": "object", "properties": {"place": {"enum": ["Paris"]}}, "required": ["place"]}
    registry = [
        tool("echo", {"type": "builtin", "handler": "echo"}, parameters=schema),
        tool("weather", {"type": "mock", "mock_response": {"sky": ["clear", None]}}, parameters=weather),
        tool("text", {"type": "mock", "mock_response": "A text, \u00e9\u2028\U0001f600."}),
        tool("null", {"type": "mock", "mock_response": None}),
        tool("list", {"type": "mock", "mock_response": [1, 2.5, True, None]}),
        tool("later", {"type": "mock", "mock_response": "Later.", "delay_ms": 50}),
        tool("sum", {"type": "builtin", "handler": "math_eval"}),
    ]
    path = tmp_path / "toolspan.json"
    path.write_text(json.dumps({"instructions": "Be kind.", "tools": {"registry": registry}}))
    config = load_config(path)
    async with running(config) as runtime:
        yield ServerView(runtime)


def test_the_corpus_is_large_and_every_difference_is_of_a_case() -> None:
    assert len(CASES) >= 150
    assert DIFFERENCES.keys() <= CASES.keys()


@pytest.mark.requirement("I3.3.1", "I3.3.2")
@pytest.mark.parametrize("name", CASES)
async def test_both_ways_give_equal_answers(name: str, running_config: ServerView) -> None:
    by_the_sdk = settled(await answered_by_the_sdk(running_config, *CASES[name]))
    by_stdio = settled(await served(running_config, *CASES[name]))
    if name in DIFFERENCES:
        assert by_stdio != by_the_sdk, f"no longer a difference: {DIFFERENCES[name]}"
        by_stdio, by_the_sdk = without_nulls(by_stdio), without_nulls(by_the_sdk)
    assert by_stdio == by_the_sdk


@pytest.mark.requirement("I3.3.2")
@pytest.mark.parametrize("name", SEQUENCES)
async def test_without_the_short_path_stdio_gives_the_sdks_answers(
    name: str, running_config: ServerView
) -> None:
    by_the_sdk = settled(await answered_by_the_sdk(running_config, *CASES[name]))
    assert settled(await served(running_config, *CASES[name], plain=False)) == by_the_sdk


CALL = request("tools/call", {"name": "text"}, 7)
WAITING = request("tools/call", {"name": "later"}, 7)
LAST = b""  # ends the line before with a newline, so that all come in together
NOT_AN_ID = (
    "JSON-RPC 2.0, 4: 'An identifier established by the Client that MUST contain a String, Number, or NULL'"
)
STRICTER: dict[str, tuple[list[bytes | dict[str, Any]], list[tuple[Any, int]], str]] = {
    "an id that is taken": (
        [initialize(), WAITING, WAITING, LAST],
        [(0, 0), (7, -32600), (7, 0)],
        "MCP 2025-11-25, basic: 'The request ID MUST NOT have been previously used by the requestor within "
        "the same session'; the SDK runs both, and can cancel only the second.",
    ),
    "a cancellation of a text for a number": (
        [initialize(), CALL, notification("notifications/cancelled", {"requestId": "7"}), LAST],
        [(0, 0), (7, 0)],
        "MCP 2025-11-25, basic/utilities/cancellation: 'Cancellation notifications MUST only reference "
        "requests that were previously issued'; the SDK takes '7' for 7 and leaves 7 without an answer.",
    ),
    "a line that is no JSON": (
        [b"rubbish", initialize()],
        [(None, -32700), (0, 0)],
        "JSON-RPC 2.0, 5.1: 'Parse error: Invalid JSON was received by the server'; the SDK is silent.",
    ),
    "an id that is no id": (
        [b'{"jsonrpc":"2.0","id":[],"method":"ping"}', initialize()],
        [(None, -32600), (0, 0)],
        f"{NOT_AN_ID}; the SDK takes the request for a notification.",
    ),
    "a batch where there are none": (
        [initialize(), b'[{"jsonrpc":"2.0","id":7,"method":"ping"}]'],
        [(0, 0), (None, -32600)],
        "JSON-RPC 2.0, 5.1: 'Invalid Request: The JSON sent is not a valid Request object'; the SDK is mute.",
    ),
}
"""Where stdio does otherwise than the SDK: lines, each answer's id and error code (0: none), and why."""


@pytest.mark.requirement("I3.3.2", "I3.1.1")
@pytest.mark.parametrize("name", STRICTER)
async def test_where_the_sdk_is_silent_or_confuses_ids_stdio_answers(
    name: str, running_config: ServerView
) -> None:
    lines, expected, reason = STRICTER[name]
    answers = await served(running_config, *lines)
    got = [(answer.get("id"), answer.get("error", {}).get("code", 0)) for answer in answers]
    assert got == expected, reason


@pytest.mark.requirement("I3.1.1")
async def test_batches_are_answered_in_the_revision_that_has_them(
    running_config: ServerView,
) -> None:
    """MCP 2025-03-26, basic: 'MUST support receiving JSON-RPC batches'; the SDK is silent."""
    batch = json.dumps([CALL, notification("no/such"), request("ping", {}, 8)]).encode()
    _, answer = await served(running_config, initialize("2025-03-26"), batch)
    assert {each["id"] for each in answer} == {7, 8}
    assert all("result" in each for each in answer)


def without_nulls(value: Any) -> Any:
    """``value`` without the members that are null, at any depth: what the listed differences are about."""
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    return value
