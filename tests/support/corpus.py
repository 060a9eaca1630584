"""What clients send: plain messages, odd ones, broken ones, and sequences that open a connection oddly.

``cases`` has every message of ``CALLS`` and ``OTHERS`` in every revision, each after its opening, and
``SEQUENCES``.
"""

from __future__ import annotations

from typing import Any

from tests.support.served import MODERN_META
from toolspan_server.protocol.fast_path import HANDSHAKE_VERSIONS, MODERN_VERSION

Message = dict[str, Any]
PREFIX = "io.modelcontextprotocol/"
CLIENT = {"name": "corpus", "version": "1"}
DEEP: Any = 1
for _ in range(25):
    DEEP = {"a": [DEEP]}


def request(method: str, params: Any = None, request_id: Any = 7, **more: Any) -> Message:
    message = {"jsonrpc": "2.0", "id": request_id, "method": method, **more}
    return message if params is None else {**message, "params": params}


def notification(method: str, params: Any = None) -> Message:
    message = {"jsonrpc": "2.0", "method": method}
    return message if params is None else {**message, "params": params}


def initialize(version: Any = "2025-11-25", request_id: Any = 0, **more: Any) -> Message:
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": CLIENT, **more}
    return request("initialize", params, request_id)


INITIALIZED = notification("notifications/initialized")

CALLS: dict[str, Any] = {
    "a call": {"name": "echo", "arguments": {"value": "x"}},
    "a call without arguments": {"name": "text"},
    "null arguments": {"name": "text", "arguments": None},
    "list arguments": {"name": "text", "arguments": []},
    "text arguments": {"name": "text", "arguments": "{}"},
    "an object result": {"name": "weather", "arguments": {"place": "Paris"}},
    "a null result": {"name": "null"},
    "a list result": {"name": "list"},
    "a missing parameter": {"name": "weather", "arguments": {}},
    "a wrong parameter": {"name": "weather", "arguments": {"place": "Rome", "more": 1}},
    "a failing tool": {"name": "sum", "arguments": {"expression": "1/0"}},
    "deep arguments": {"name": "echo", "arguments": {"value": DEEP["a"][0]["a"][0]}},
    "a long integer": {"name": "echo", "arguments": {"value": {"x": 10**4_100}}},
    "an unknown tool": {"name": "nowhere", "arguments": {}},
    "an empty name": {"name": ""},
    "no name": {"arguments": {}},
    "a number for a name": {"name": 5},
    "an unknown member": {"name": "text", "new": 1},
    "a task": {"name": "text", "task": {"ttl": 5}},
    "a broken task": {"name": "text", "task": 5},
    "a state": {"name": "text", "requestState": "s"},
    "a broken state": {"name": "text", "requestState": 5},
    "other meta": {"name": "text", "_meta": {"traceparent": "00-1", "x/y": {"z": None}}},
    "a progress token": {"name": "text", "_meta": {"progressToken": "p"}},
    "a number for a token": {"name": "text", "_meta": {"progressToken": 1}},
    "a broken token": {"name": "text", "_meta": {"progressToken": {}}},
    "a boolean token": {"name": "text", "_meta": {"progressToken": True}},
    "a log level": {"name": "text", "_meta": {PREFIX + "logLevel": "debug"}},
    "a broken log level": {"name": "text", "_meta": {PREFIX + "logLevel": "loud"}},
    "a related task": {"name": "text", "_meta": {PREFIX + "related-task": {"taskId": "t"}}},
    "a new reserved key": {"name": "text", "_meta": {PREFIX + "new": 1}},
    "a list for meta": {"name": "text", "_meta": []},
    "null meta": {"name": "text", "_meta": None},
}
OTHERS: dict[str, tuple[str, Any]] = {
    "tools/list": ("tools/list", {}),
    "tools/list with a token": ("tools/list", {"_meta": {"progressToken": 3}}),
    "a null cursor": ("tools/list", {"cursor": None}),
    "an unknown cursor": ("tools/list", {"cursor": "2"}),
    "a broken cursor": ("tools/list", {"cursor": 2}),
    "tools/list with more": ("tools/list", {"new": 1}),
    "ping": ("ping", {}),
    "ping with more": ("ping", {"new": [1]}),
    "server/discover": ("server/discover", {}),
    "server/discover with more": ("server/discover", {"new": 1}),
    "prompts/list": ("prompts/list", {}),
    "resources/read": ("resources/read", {"uri": "file:///x"}),
    "a broken resources/read": ("resources/read", {}),
    "logging/setLevel": ("logging/setLevel", {"level": "debug"}),
    "completion/complete": ("completion/complete", {}),
    "tasks/get": ("tasks/get", {"taskId": "t"}),
    "subscriptions/listen": ("subscriptions/listen", {"notifications": {}}),
    "an unknown method": ("no/such", {"x": 1}),
    "an empty method": ("", {}),
}


def cases() -> dict[str, list[Message]]:
    """Messages by the name of their case; of those of one revision it starts with the revision."""
    cases: dict[str, list[Message]] = {}
    bodies = {**{name: ("tools/call", params) for name, params in CALLS.items()}, **OTHERS}
    for version in HANDSHAKE_VERSIONS:
        opening = [initialize(version), INITIALIZED]
        for name, (method, params) in bodies.items():
            cases[f"{version}: {name}"] = [*opening, request(method, params)]
        for method in ("tools/list", "ping", "tools/call", "no/such"):
            cases[f"{version}: {method} without params"] = [*opening, request(method)]
    for name, (method, params) in bodies.items():
        meta = params.get("_meta", {})
        whole = {**MODERN_META, **meta} if isinstance(meta, dict) else meta
        cases[f"{MODERN_VERSION}: {name}"] = [
            request("tools/call", {"name": "text", "_meta": MODERN_META}, "opening"),
            request(method, {**params, "_meta": whole}),
        ]
    return {**cases, **SEQUENCES}


def enveloped(method: str, request_id: Any = 7, meta: Any = None, **params: Any) -> Message:
    return request(method, {**params, "_meta": {**MODERN_META, **(meta or {})}}, request_id)


LIST, CALL = request("tools/list", {}, 1), request("tools/call", CALLS["a call"], 2)
CURSOR = request("tools/list", {"cursor": "2"}, 3)
SEQUENCES: dict[str, list[Message]] = {
    "a list before the handshake": [LIST],
    "a call before the handshake": [CALL, initialize(), CALL | {"id": 9}],
    "a ping before the handshake": [request("ping", {}, 1), initialize(), CALL],
    "an odd ping before the handshake": [request("ping", {"_meta": 1}, 1), initialize(), CALL],
    "an unknown method before the handshake": [request("no/such", {}, 1), initialize(), CALL],
    "only the second half of the handshake": [
        INITIALIZED,
        CALL,
        initialize("2024-11-05", 5),
        CALL | {"id": 9},
    ],
    "the second half of the handshake late": [request("ping", {}, 1), INITIALIZED, CALL, CURSOR],
    "calls before the handshake's second half": [initialize(), CALL, CURSOR, INITIALIZED, CALL | {"id": 9}],
    "a second handshake": [initialize("2025-11-25"), CALL, initialize("2024-11-05", 5), CALL | {"id": 9}],
    "a second handshake after the long way": [
        initialize("2025-11-25"),
        CURSOR,
        initialize("2024-11-05", 5),
        CALL,
        request("tools/call", CALLS["a task"], 6),
    ],
    "a handshake that is refused": [initialize(5), CALL, initialize("2025-06-18", 5), CALL | {"id": 9}],
    "a second handshake that is refused": [initialize("2024-11-05"), initialize(5, 5), CALL],
    "a handshake without params": [request("initialize", None, 0), CALL],
    "a handshake with empty params": [request("initialize", {}, 0), CALL],
    "a handshake with odd capabilities": [initialize(capabilities={"roots": {"listChanged": "yes"}}), CALL],
    "a handshake with broken capabilities": [initialize(capabilities={"sampling": 5}), CALL],
    "a handshake with unknown capabilities": [
        initialize("2024-11-05", capabilities={"new": 5}),
        CALL,
        CURSOR,
    ],
    "a handshake with an icon": [initialize(clientInfo={**CLIENT, "icons": [{"src": "https://x/y"}]}), CALL],
    "a handshake with a broken client": [initialize(clientInfo={"name": "x"}), CALL],
    "a handshake with meta": [initialize("2025-03-26", _meta={"progressToken": 1}), CALL],
    "a handshake with an envelope": [initialize("2025-03-26", _meta=MODERN_META), CALL],
    "a handshake for an unknown revision": [initialize("1999-01-01"), CALL],
    "a handshake for the modern revision": [initialize(MODERN_VERSION), CALL],
    "a modern call in the old era": [initialize(), enveloped("tools/list"), CALL],
    "a modern call after an old ping": [request("ping", {}, 1), enveloped("tools/list"), initialize(), CALL],
    "a handshake in the modern era": [
        enveloped("tools/call", name="text"),
        initialize(),
        enveloped("tools/call", 9, name="text"),
    ],
    "a broken handshake in the modern era": [
        enveloped("tools/call", name="text"),
        request("initialize", {}, 0),
    ],
    "an old call in the modern era": [enveloped("tools/call", name="text"), CALL, request("ping", {}, 1)],
    "no params in the modern era": [enveloped("server/discover"), request("tools/list", None, 1)],
    "a modern era opened by the long way": [
        enveloped("tools/list", cursor="2"),
        enveloped("tools/call", 9, name="text"),
    ],
    "a modern era opened by an unknown revision": [
        enveloped("tools/list", meta={PREFIX + "protocolVersion": "2030-01-01"}),
        enveloped("tools/call", 9, name="text"),
    ],
    "a broken revision": [enveloped("tools/list", meta={PREFIX + "protocolVersion": 5}), CALL],
    "no capabilities in the envelope": [
        request("tools/list", {"_meta": {PREFIX + "protocolVersion": MODERN_VERSION}}),
        enveloped("tools/call", 9, name="text"),
    ],
    "broken capabilities in the envelope": [
        enveloped("tools/list", meta={PREFIX + "clientCapabilities": {"roots": 5}})
    ],
    "null capabilities in the envelope": [
        enveloped("tools/list", meta={PREFIX + "clientCapabilities": None})
    ],
    "a client in the envelope": [enveloped("tools/call", name="text", meta={PREFIX + "clientInfo": CLIENT})],
    "a broken client in the envelope": [
        enveloped("tools/call", name="text", meta={PREFIX + "clientInfo": 5})
    ],
    "an incomplete client in the envelope": [
        enveloped("tools/call", name="text", meta={PREFIX + "clientInfo": {"name": "x"}})
    ],
    "extensions in the envelope": [
        enveloped(
            "tools/call", name="text", meta={PREFIX + "clientCapabilities": {"extensions": {"a/b": {"c": 1}}}}
        )
    ],
    "ids of all sorts": [
        initialize("2025-06-18", "init"),
        *(request("ping", {}, each) for each in ("", "5", 5, -1, 2**70, "\u00e9\u2028", "null", 'a"b\\')),
        *(request("tools/call", CALLS["a call"], each) for each in ("x", 6, "6", -6, 2**80)),
        *(request("tools/list", {"cursor": "2"}, each) for each in ("y", 8, "8", -8, 2**90)),
    ],
    "members that do not belong": [
        initialize(),
        request("ping", {}, 1, result={}, new=1),
        CALL | {"error": {"x": 1}},
    ],
    "null params": [initialize(), {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": None}],
    "notifications and answers in between": [
        notification("notifications/cancelled", {"requestId": 1}),
        notification("no/such"),
        initialize(),
        INITIALIZED,
        notification("notifications/initialized", {"_meta": 5}),
        notification("notifications/roots/list_changed"),
        notification("notifications/progress", {"progressToken": 1, "progress": 1}),
        notification("notifications/cancelled"),
        notification("notifications/cancelled", {"requestId": 2}),
        {"jsonrpc": "2.0", "id": 99, "result": {}},
        {"jsonrpc": "2.0", "id": 99, "error": {"code": 1, "message": "no"}},
        CURSOR,
        {"jsonrpc": "2.0", "id": 1, "result": {}},
        notification("notifications/roots/list_changed"),
        CALL,
    ],
}
