"""One corpus of requests, sent to our endpoint and to the SDK's own app: the answers are equal.

Where they are not, the difference is one of ``DIFFERENCES``, with its reason and the sentence that allows
it, and the case names it: a difference that is gone fails as well.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from tests.support.asgi import Client, Reply
from tests.support.http_corpus import (
    ACCEPT,
    CALL,
    HANDSHAKE_ONLY,
    HANDSHAKES,
    HEADERS,
    INVALID,
    METHODS,
    OPENINGS,
    VALID,
    WORDED_ALIKE_IN_2025,
    enveloped,
    modern_headers,
    raw,
    request,
)
from tests.support.served import INITIALIZE, INITIALIZED, write_config
from toolspan_server import load_config, running
from toolspan_server.http_server.guard import Access
from toolspan_server.live.views import ServerView
from toolspan_server.protocol.http.app import Application
from toolspan_server.protocol.sdk.server import build_server
from toolspan_server.protocol.state.running_calls import Calls

pytestmark = pytest.mark.anyio

_TIME = re.compile(r'(execution_time_ms\\*":) ?[0-9.e-]+')


@dataclass(frozen=True)
class Difference:
    """Where the two ways part, why ours is right, and the sentence that says so."""

    reason: str
    source: str
    as_ours: Callable[[Seen], Seen]


@dataclass(frozen=True)
class Seen:
    """What a client sees of an answer: status, content type class, messages."""

    status: int
    kind: str
    messages: tuple[Any, ...]


def _json(seen: Seen) -> Seen:
    return replace(seen, kind="json")


def _with_null(message: dict[str, Any]) -> dict[str, Any]:
    return {**message, "result": {**message["result"], "structuredContent": None}}


def _refused(code: int, status: int = 400) -> Callable[[Seen], Seen]:
    """The SDK's answer, made an error of that code; its words are its own."""

    def as_ours(_seen: Seen) -> Seen:
        return Seen(status, "json", ({"jsonrpc": "2.0", "error": {"code": code}},))

    return as_ours


DIFFERENCES = {
    "JSON in a session": Difference(
        "A plain answer needs no stream; the SDK makes one for every request of a session.",
        "MCP 2025-11-25, basic/transports: 'the server MUST either return Content-Type: text/event-stream, "
        "to initiate an SSE stream, or Content-Type: application/json, to return one JSON object.'",
        _json,
    ),
    "invalid request": Difference(
        "A message of the wrong shape is no request; the SDK calls its parameters invalid.",
        "JSON-RPC 2.0, 5.1: '-32600 Invalid Request: The JSON sent is not a valid Request object.'",
        _refused(-32600),
    ),
    "invalid request, id kept": Difference(
        "The id of such a message is known, so the client can tell which request was refused.",
        "JSON-RPC 2.0, 5: id 'MUST be the same as the value of the id member in the Request Object'.",
        _refused(-32600),
    ),
    "not JSON": Difference(
        "NaN and Infinity are no JSON; the SDK takes them and would pass them on to the tool.",
        "RFC 8259, 6: 'Numeric values that cannot be represented in the grammar below (such as Infinity and "
        "NaN) are not permitted.'",
        _refused(-32700),
    ),
    "nesting": Difference(
        "Nesting is limited to 64 levels on every transport; the SDK's limits differ between its transports.",
        "RFC 8259, 9: 'An implementation may set limits on the maximum depth of nesting.'",
        _refused(-32700),
    ),
    "parse error, in words": Difference(
        "The same error with the parser's place, and with the id where it can be recovered.",
        "JSON-RPC 2.0, 5.1: '-32700 Parse error: Invalid JSON was received by the server.'",
        _refused(-32700),
    ),
    "not acceptable, in words": Difference(
        "The SDK refuses without a body; we say what to do.",
        "MCP 2025-11-25, basic/transports: 'The client MUST include an Accept header, listing both "
        "application/json and text/event-stream as supported content types.'",
        _refused(-32600, 406),
    ),
    "method not allowed, in words": Difference(
        "The SDK refuses without a body; we say what it is.",
        "RFC 9110, 15.5.6: 'The origin server MUST generate an Allow header field in a 405 response.'",
        _refused(-32600, 405),
    ),
    "null is a value": Difference(
        "A tool's null is its result; the SDK leaves every null out of its answers in this era.",
        "MCP 2026-07-28, schema, CallToolResult: structuredContent is any JSON value, and null is one.",
        lambda seen: replace(seen, messages=(_with_null(seen.messages[0]),)),
    ),
}


def normal(message: Any) -> Any:
    """A message without what may always differ: the time a call took, and ``id: null`` for no id.

    MCP 2025-11-25, schema: a JSONRPCErrorResponse's ``id`` is optional, and never null.
    """
    timeless = json.loads(_TIME.sub(r"\1 0", json.dumps(message)))
    if not isinstance(timeless, dict):
        return timeless
    return {key: value for key, value in timeless.items() if (key, value) != ("id", None)}


def seen(reply: Reply) -> Seen:
    return Seen(reply.status, reply.kind, tuple(map(normal, reply.messages)))


def without_words(seen: Seen) -> Seen:
    """Errors by their code alone: what a listed difference leaves equal."""
    messages = tuple(
        {"jsonrpc": "2.0", "error": {"code": each["error"]["code"]}} if "error" in each else each
        for each in seen.messages
    )
    return replace(seen, messages=messages)


def same(ours: Reply, theirs: Reply, differs: str | None) -> None:
    if differs is None:
        assert seen(ours) == seen(theirs)
        return
    expected = DIFFERENCES[differs].as_ours(seen(theirs))
    assert seen(ours) != seen(theirs), "no difference any more: take it off the case"
    in_full = all("error" not in each or "message" in each["error"] for each in expected.messages)
    assert (seen(ours) if in_full else without_words(seen(ours))) == expected


@dataclass(frozen=True)
class Both:
    """Our app, and the SDK's, with sessions and without."""

    ours: Client
    sessions: Client
    stateless: Client


@asynccontextmanager
async def both_apps(folder: Path) -> AsyncIterator[Both]:
    config = load_config(write_config(folder, "fault", "surrogate", instructions="Be kind."))
    async with running(config) as runtime, anyio.create_task_group() as helpers:
        server = build_server(ServerView(runtime), Calls())
        with_sessions = StreamableHTTPSessionManager(server)
        without = StreamableHTTPSessionManager(
            build_server(ServerView(runtime), Calls()),
            stateless=True,
        )
        application = Application(runtime, Access(), helpers)
        async with with_sessions.run(), without.run():
            yield Both(
                Client(application.app), Client(with_sessions.handle_request), Client(without.handle_request)
            )
        application.close()
        helpers.cancel_scope.cancel()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("differential")


NULLS = dict.fromkeys(("no arguments", "null arguments"), "null is a value")


@pytest.mark.requirement("I3.3.2")
@pytest.mark.parametrize("case", [*VALID, *HANDSHAKE_ONLY])
async def test_modern_requests_are_answered_alike(folder: Path, case: str) -> None:
    message = enveloped({**VALID, **HANDSHAKE_ONLY}[case])
    async with both_apps(folder) as both:
        ours = await both.ours.ask("POST", raw(message), modern_headers(message))
        theirs = await both.stateless.ask("POST", raw(message), modern_headers(message))
    same(ours, theirs, NULLS.get(case))


@pytest.mark.requirement("I3.3.2")
@pytest.mark.parametrize("case", INVALID)
async def test_what_is_no_modern_request_is_refused_alike(folder: Path, case: str) -> None:
    body, differs = INVALID[case]
    async with both_apps(folder) as both:
        ours = await both.ours.ask("POST", body, modern_headers(None, mcp_method="tools/list"))
        theirs = await both.stateless.ask("POST", body, modern_headers(None, mcp_method="tools/list"))
    same(ours, theirs, differs)


@pytest.mark.requirement("I3.3.2")
@pytest.mark.parametrize("case", [*VALID, *HANDSHAKE_ONLY])
@pytest.mark.parametrize("version", HANDSHAKES)
async def test_single_requests_of_the_2025_era_are_answered_alike(
    folder: Path, case: str, version: str
) -> None:
    message = raw({**VALID, **HANDSHAKE_ONLY}[case])
    headers = {**ACCEPT, "mcp-protocol-version": version}
    async with both_apps(folder) as both:
        ours = await both.ours.ask("POST", message, headers)
        theirs = await both.stateless.ask("POST", message, headers)
    same(ours, theirs, "JSON in a session" if ours.kind == "json" else None)


@pytest.mark.requirement("I3.3.2")
@pytest.mark.parametrize("case", [*VALID, *HANDSHAKE_ONLY])
@pytest.mark.parametrize("version", HANDSHAKES)
async def test_requests_in_a_session_are_answered_alike(folder: Path, case: str, version: str) -> None:
    message = raw({**VALID, **HANDSHAKE_ONLY}[case])
    async with both_apps(folder) as both:
        ours = await in_session(both.ours, version, "POST", message)
        theirs = await in_session(both.sessions, version, "POST", message)
    same(ours, theirs, "JSON in a session" if ours.kind == "json" else None)


async def in_session(client: Client, version: str, method: str, body: bytes) -> Reply:
    opening = {**INITIALIZE, "params": {**INITIALIZE["params"], "protocolVersion": version}}
    opened = await client.ask("POST", raw(opening), ACCEPT)
    headers = {**ACCEPT, "mcp-session-id": opened.headers["mcp-session-id"], "mcp-protocol-version": version}
    assert (await client.ask("POST", raw(INITIALIZED), headers)).status == 202
    return await client.ask(method, body, headers)


@pytest.mark.requirement("I3.3.2")
@pytest.mark.parametrize("case", INVALID)
@pytest.mark.parametrize("way", ["single", "session"])
async def test_what_is_no_request_is_refused_alike(folder: Path, case: str, way: str) -> None:
    body, differs = INVALID[case]
    async with both_apps(folder) as both:
        if way == "single":
            headers = {**ACCEPT, "mcp-protocol-version": "2025-11-25"}
            ours = await both.ours.ask("POST", body, headers)
            theirs = await both.stateless.ask("POST", body, headers)
        else:
            ours = await in_session(both.ours, "2025-11-25", "POST", body)
            theirs = await in_session(both.sessions, "2025-11-25", "POST", body)
    same(ours, theirs, None if case in WORDED_ALIKE_IN_2025 else differs)


@pytest.mark.requirement("I3.3.2")
@pytest.mark.parametrize("case", OPENINGS)
async def test_sessions_are_opened_alike(folder: Path, case: str) -> None:
    params = {**INITIALIZE["params"], **OPENINGS[case]}
    message = {**INITIALIZE, "params": {key: value for key, value in params.items() if value is not None}}
    async with both_apps(folder) as both:
        ours = await both.ours.ask("POST", raw(message), ACCEPT)
        theirs = await both.sessions.ask("POST", raw(message), ACCEPT)
    same(ours, theirs, "JSON in a session")
    assert ("mcp-session-id" in ours.headers) == ("result" in ours.message)


@pytest.mark.requirement("I3.3.2")
@pytest.mark.parametrize("case", HEADERS)
async def test_modern_headers_are_held_to_alike(folder: Path, case: str) -> None:
    message, changed, differs = HEADERS[case]
    async with both_apps(folder) as both:
        ours = await both.ours.ask("POST", raw(message), modern_headers(message, **changed))
        theirs = await both.stateless.ask("POST", raw(message), modern_headers(message, **changed))
    same(ours, theirs, differs)


@pytest.mark.requirement("I3.3.2")
@pytest.mark.parametrize("name", ["x-other", "user-agent"])
async def test_repeated_headers_that_decide_nothing_are_taken_alike(folder: Path, name: str) -> None:
    headers = [*modern_headers(CALL).items(), (name, "one"), (name, "other")]
    async with both_apps(folder) as both:
        same(
            await both.ours.ask("POST", raw(CALL), headers),
            await both.stateless.ask("POST", raw(CALL), headers),
            None,
        )


@pytest.mark.requirement("I3.3.2")
@pytest.mark.parametrize(("method", "headers", "differs"), METHODS)
async def test_methods_and_unknown_sessions_are_refused_alike(
    folder: Path, method: str, headers: dict[str, str], differs: str | None
) -> None:
    sent = {**ACCEPT, **headers}
    async with both_apps(folder) as both:
        ours = await both.ours.ask(method, raw(request("tools/list")), sent)
        theirs = await both.sessions.ask(method, raw(request("tools/list")), sent)
    same(ours, theirs, differs)
    assert ours.headers.get("allow") == theirs.headers.get("allow")


@pytest.mark.requirement("I3.3.2")
@pytest.mark.parametrize("method", ["DELETE", "PUT"])
async def test_methods_in_a_session_are_answered_alike(folder: Path, method: str) -> None:
    async with both_apps(folder) as both:
        same(
            await in_session(both.ours, "2025-11-25", method, b""),
            await in_session(both.sessions, "2025-11-25", method, b""),
            None,
        )


def test_every_listed_difference_is_seen_by_a_case() -> None:
    corpus = Path(__file__).parents[3] / "support" / "http_corpus.py"
    text = Path(__file__).read_text("utf-8") + corpus.read_text("utf-8")
    assert all(text.count(f'"{name}"') >= 2 for name in DIFFERENCES)
    assert all(each.reason and each.source for each in DIFFERENCES.values())
