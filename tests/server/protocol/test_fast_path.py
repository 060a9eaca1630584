"""The short path by itself: what it takes, the SDK would take too; what it does not know, it leaves."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from copy import deepcopy
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from mcp_types import CallToolRequestParams, InitializeRequestParams, PaginatedRequestParams, RequestParams
from mcp_types.methods import validate_client_request
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from tests.support.served import MODERN_META, write_config
from toolspan_server import load_config, running
from toolspan_server._version import __version__
from toolspan_server.calls.caller import LOCAL
from toolspan_server.live.views import ServerView
from toolspan_server.protocol import fast_path
from toolspan_server.protocol.fast_path import Call, FastPath, is_modern

pytestmark = pytest.mark.anyio
VERSIONS = [*fast_path.HANDSHAKE_VERSIONS, fast_path.MODERN_VERSION]
PARAMS_OF = {"tools/call": CallToolRequestParams, "tools/list": PaginatedRequestParams}
CLIENT = {"name": "c", "version": "1"}
in_one_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


@pytest.fixture
async def path(tmp_path: Path) -> AsyncIterator[FastPath]:
    config = load_config(write_config(tmp_path, "meta"))
    async with running(config) as runtime:
        yield FastPath(ServerView(runtime))


def request(method: str, params: Any = None, request_id: Any = 1) -> dict[str, Any]:
    message = {"jsonrpc": "2.0", "id": request_id, "method": method}
    return message if params is None else {**message, "params": params}


VALUES = [None, True, 0, 1.5, "", "x", [], {}, {"a": 1}, {"a": {}}, {"a": True}, [{}], {"listChanged": True}]
PREFIX = "io.modelcontextprotocol/"
META = ("params", "_meta")
ABLE = ("roots", "sampling", "elicitation", "experimental", "extensions", "tasks", "new")
MEMBERS = ("listChanged", "form", "url", "tools", "context", "list", "requests", "new")
CLIENT_KEYS = ("name", "version", "title", "description", "websiteUrl", "website_url", "icons", "new")


def under(*base: str) -> list[tuple[str, ...]]:
    """The places in the capabilities at ``base``, down to the members of each."""
    return [(*base, able) for able in ABLE] + [(*base, able, member) for able in ABLE for member in MEMBERS]


CALL_PLACES = [
    ("params",),
    META,
    *(("params", key) for key in ("name", "arguments", "cursor", "task", "meta", "new", "requestState")),
    *((*META, key) for key in ("progressToken", "progress_token", "traceparent", "x/y", "")),
    *((*META, PREFIX + key) for key in ("logLevel", "related-task", "new", "clientInfo", "protocolVersion")),
    *((*META, f"io_modelcontextprotocol_{key}") for key in ("client_capabilities", "log_level")),
    *((*META, PREFIX + "clientInfo", key) for key in CLIENT_KEYS),
    *under(*META, PREFIX + "clientCapabilities"),
]
INITIALIZE_PLACES = [
    ("params",),
    *(("params", key) for key in ("protocolVersion", "capabilities", "clientInfo", "_meta", "new")),
    *(("params", "clientInfo", key) for key in CLIENT_KEYS),
    *under("params", "capabilities"),
]


def edited(message: dict[str, Any], edits: list[tuple[tuple[str, ...], Any]]) -> dict[str, Any]:
    """A copy of ``message`` with a value put at each place, where there is an object to put it into."""
    copy = json.loads(json.dumps(message))
    for path, value in edits:
        target = copy
        for key in path[:-1]:
            target = target.setdefault(key, {}) if isinstance(target, dict) else None
        if isinstance(target, dict):
            target[path[-1]] = deepcopy(value)
    return copy


def edits(places: list[tuple[str, ...]]) -> st.SearchStrategy[list[tuple[tuple[str, ...], Any]]]:
    return st.lists(st.tuples(st.sampled_from(places), st.sampled_from(VALUES)), max_size=2)


@pytest.mark.requirement("I3.3.1", "I3.3.2")
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("method", ["tools/call", "tools/list", "ping", "server/discover", "prompts/list"])
@given(edits=edits(CALL_PLACES))
@in_one_folder
@example(edits=[((*META, "progress_token"), [])])
@example(edits=[((*META, PREFIX + "logLevel"), "loud")])
async def test_what_the_short_path_takes_the_sdk_takes_too(
    path: FastPath, version: str, method: str, edits: list[tuple[tuple[str, ...], Any]]
) -> None:
    plain: dict[str, Any] = {"name": "echo", "arguments": {"value": 1}} if method == "tools/call" else {}
    meta = {**MODERN_META, PREFIX + "clientInfo": CLIENT} if version == fast_path.MODERN_VERSION else {}
    message = edited(request(method, {**plain, "_meta": meta}), edits)
    if path.answer(message, version) is not None:
        validate_client_request(method, version, message["params"])
        PARAMS_OF.get(method, RequestParams).model_validate(message["params"] or {}, by_name=False)


@pytest.mark.requirement("I3.3.1", "I3.3.2")
@settings(in_one_folder, max_examples=500)
@given(edits=edits(INITIALIZE_PLACES))
@example(edits=[(("params", "capabilities", "roots", "listChanged"), {})])
async def test_an_initialize_that_the_short_path_takes_the_sdk_takes_too(
    path: FastPath, edits: list[tuple[tuple[str, ...], Any]]
) -> None:
    plain = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": CLIENT}
    message = edited(request("initialize", plain), edits)
    answered = path.initialize(message)
    if answered is not None:
        for version in fast_path.HANDSHAKE_VERSIONS:
            validate_client_request("initialize", version, message["params"])
        InitializeRequestParams.model_validate(message["params"], by_name=False)
        assert json.loads(answered[0])["result"]["protocolVersion"] == answered[1]


@pytest.mark.requirement("I3.3.1")
@pytest.mark.parametrize(
    "able",
    [
        {},
        {"roots": {"listChanged": True}, "sampling": {}, "elicitation": {"form": {}, "url": {}}},
        {"sampling": {"tools": {}, "context": {}}, "roots": {}, "experimental": {"x": {}}},
        {"tasks": {"list": {}, "cancel": {}, "requests": {"sampling": {"createMessage": {}}}}},
    ],
)
async def test_the_handshakes_of_well_known_clients_are_plain(path: FastPath, able: dict[str, Any]) -> None:
    who = {**CLIENT, "title": "T", "description": "D", "websiteUrl": "https://example.org"}
    message = request(
        "initialize", {"protocolVersion": "2025-06-18", "capabilities": able, "clientInfo": who}
    )
    answered = path.initialize(message)
    assert answered is not None
    assert answered[1] == "2025-06-18"
    envelope = {
        **MODERN_META,
        "io.modelcontextprotocol/clientCapabilities": able,
        "io.modelcontextprotocol/clientInfo": who,
    }
    assert path.answer(request("tools/list", {"_meta": envelope}), fast_path.MODERN_VERSION) is not None


@pytest.mark.requirement("I3.3.1")
async def test_a_call_runs_its_tool_with_its_meta(path: FastPath) -> None:
    call = path.answer(request("tools/call", {"name": "meta", "_meta": {"progressToken": 4}}), "2025-11-25")
    assert isinstance(call, Call)
    assert json.loads(await call.run(LOCAL))["result"]["structuredContent"] == {"progressToken": 4}


@pytest.mark.requirement("I3.3.1")
async def test_the_listing_is_made_once_for_each_era(path: FastPath) -> None:
    old = path.answer(request("tools/list", request_id=1), "2024-11-05")
    assert isinstance(old, bytes)
    path.view.runtime.registry._tools.clear()
    for version in fast_path.HANDSHAKE_VERSIONS:
        assert path.answer(request("tools/list", request_id=1), version) == old
    modern = path.answer(request("tools/list", {"_meta": MODERN_META}), fast_path.MODERN_VERSION)
    assert isinstance(modern, bytes)
    assert json.loads(modern)["result"]["tools"] == []


@pytest.mark.parametrize(
    ("message", "modern"),
    [
        (request("tools/list", {"_meta": MODERN_META}), True),
        (request("tools/list", {"_meta": {fast_path.VERSION_KEY: None}}), True),
        (request("initialize", {"_meta": MODERN_META}), False),
        (request("tools/list", {"_meta": {"progressToken": 1}}), False),
        (request("tools/list", {"_meta": []}), False),
        (request("tools/list"), False),
    ],
)
async def test_the_version_in_the_envelope_marks_the_modern_era(message: Any, modern: bool) -> None:
    assert is_modern(message) is modern


async def test_the_revisions_are_those_of_the_sdk() -> None:
    assert tuple(HANDSHAKE_PROTOCOL_VERSIONS) == fast_path.HANDSHAKE_VERSIONS
    assert MODERN_PROTOCOL_VERSIONS == (fast_path.MODERN_VERSION,)


async def test_the_version_that_is_told_is_the_one_installed() -> None:
    assert installed_version("toolspan") == __version__
