"""Requests for both ways over HTTP: what clients send, what they get wrong, and every header's variants.

Where a case has a third or a last field, it is the name of the difference that it shows.
"""

from __future__ import annotations

import json
from typing import Any

from tests.support.served import INITIALIZE, INITIALIZED, MODERN_META

HANDSHAKES = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN = "2026-07-28"
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
ACCEPT = {"accept": "application/json, text/event-stream", "content-type": "application/json"}


def request(method: str, params: Any = None, request_id: Any = 1, **more: Any) -> dict[str, Any]:
    message = {"jsonrpc": "2.0", "id": request_id, "method": method, **more}
    return message if params is None else {**message, "params": params}


def raw(message: Any) -> bytes:
    return message if isinstance(message, bytes) else json.dumps(message).encode()


ECHO = {"name": "echo", "arguments": {"value": {"a": [None, True, 1, 1.5, "é", "😀", {}]}}}
VALID: dict[str, Any] = {
    "a list": request("tools/list"),
    "a list with params": request("tools/list", {}),
    "a call": request("tools/call", ECHO),
    "a call with a text for an id": request("tools/call", ECHO, "a-1"),
    "a call with a large id": request("tools/call", ECHO, 2**62),
    "a text result": request("tools/call", {"name": "add"}),
    "a null inside": request("tools/call", {"name": "echo", "arguments": {"value": {"b": None}}}),
    "no arguments": request("tools/call", {"name": "echo"}),
    "null arguments": request("tools/call", {"name": "echo", "arguments": None}),
    "a missing parameter": request("tools/call", {"name": "weather", "arguments": {}}),
    "a wrong type": request("tools/call", {"name": "weather", "arguments": {"location": 5}}),
    "a tool that fails": request("tools/call", {"name": "fault", "arguments": {}}),
    "a surrogate": request("tools/call", {"name": "surrogate", "arguments": {}}),
    "an unknown tool": request("tools/call", {"name": "nope", "arguments": {}}),
    "progress": request("tools/call", {**ECHO, "_meta": {"progressToken": 1}}),
    "meta of somebody's": request("tools/call", {**ECHO, "_meta": {"example.com/a": 1}}),
    "a null cursor": request("tools/list", {"cursor": None}),
    "a cursor": request("tools/list", {"cursor": "x"}),
    "unknown keys": request("tools/call", {**ECHO, "more": 1}),
    "an unknown method": request("no/such"),
    "another known method": request("resources/list"),
    "a wrong name": request("tools/call", {"name": 5}),
    "no name": request("tools/call", {}),
    "no params": request("tools/call"),
    "arguments that are a list": request("tools/call", {"name": "echo", "arguments": []}),
    "a top-level key more": request("tools/list", None, 1, extra=True),
    "a log level": request("logging/setLevel", {"level": "info"}),
}
HANDSHAKE_ONLY: dict[str, Any] = {
    "ping": request("ping"),
    "ping with params": request("ping", {"a": 1}),
    "discover": request("server/discover"),
    "a notification": INITIALIZED,
    "a notification nobody knows": {"jsonrpc": "2.0", "method": "notifications/x"},
    "a cancellation of nothing": {
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": 99},
    },
    "a response": {"jsonrpc": "2.0", "id": 1, "result": {}},
    "a cancellation of an object": {
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": {}},
    },
}
WORDED_ALIKE_IN_2025 = ("words", "cut off")
INVALID: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "parse error, in words"),
    "words": (b"hello", "parse error, in words"),
    "cut off": (b'{"jsonrpc":"2.0","id":1', "parse error, in words"),
    "bad UTF-8": (b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', "parse error, in words"),
    "NaN": (
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"value":NaN}}}',
        "not JSON",
    ),
    "a batch": (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', "invalid request"),
    "a number": (b"5", "invalid request"),
    "id 1.5": (b'{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}', "invalid request"),
    "id true": (b'{"jsonrpc":"2.0","id":true,"method":"tools/list"}', "invalid request"),
    "id null": (b'{"jsonrpc":"2.0","id":null,"method":"tools/list"}', "invalid request"),
    "no version": (b'{"id":1,"method":"tools/list"}', "invalid request, id kept"),
    "method 5": (b'{"jsonrpc":"2.0","id":1,"method":5}', "invalid request, id kept"),
    "params list": (
        b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}',
        "invalid request, id kept",
    ),
    "deep": (
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":' + b"[" * 70 + b"]" * 70 + b"}}",
        "nesting",
    ),
}


def modern_headers(message: Any, **more: str | None) -> dict[str, str]:
    headers: dict[str, str | None] = {**ACCEPT, "mcp-protocol-version": MODERN}
    if isinstance(message, dict):
        headers["mcp-method"] = str(message.get("method"))
        params = message.get("params")
        if isinstance(params, dict) and "name" in params:
            headers["mcp-name"] = str(params["name"])
    headers |= {key.replace("_", "-"): value for key, value in more.items()}
    return {key: value for key, value in headers.items() if value is not None}


def enveloped(message: dict[str, Any]) -> dict[str, Any]:
    params = message.get("params", {})
    if not isinstance(params, dict):
        return message
    return {**message, "params": {**params, "_meta": {**MODERN_META, **params.get("_meta", {})}}}


OPENINGS: dict[str, dict[str, Any]] = {
    **{f"plain {version}": {"protocolVersion": version} for version in HANDSHAKES},
    "an unknown revision": {"protocolVersion": "1999-01-01"},
    "the modern revision": {"protocolVersion": MODERN},
    "capabilities": {"capabilities": {"elicitation": {"form": {}}, "sampling": {"tools": {}}, "x": 1}},
    "no version": {"protocolVersion": None},
    "a wrong version": {"protocolVersion": 5},
    "no client": {"clientInfo": None},
    "a wrong client": {"clientInfo": {"name": 5}},
    "more keys": {"more": 1},
    "meta": {"_meta": {"progressToken": 1}},
}


CALL = enveloped(request("tools/call", ECHO))
LIST = enveloped(request("tools/list"))
HEADERS: dict[str, tuple[dict[str, Any], dict[str, str | None], str | None]] = {
    "no method header": (CALL, {"mcp_method": None}, None),
    "another method": (CALL, {"mcp_method": "tools/list"}, None),
    "another case": (CALL, {"mcp_method": "Tools/Call"}, None),
    "no name": (CALL, {"mcp_name": None}, None),
    "another name": (CALL, {"mcp_name": "add"}, None),
    "a name in base64": (CALL, {"mcp_name": "=?base64?ZWNobw==?="}, None),
    "a broken name in base64": (CALL, {"mcp_name": "=?base64?ZWNobw?="}, None),
    "a name for a list": (LIST, {"mcp_name": "echo"}, None),
    "an unknown revision": (CALL, {"mcp_protocol_version": "2099-01-01"}, None),
    "no revision in the header": (CALL, {"mcp_protocol_version": ""}, None),
    "a parameter that nobody asked for": (CALL, {"mcp_param_x": "1"}, None),
    "no accept": (CALL, {"accept": None}, "not acceptable, in words"),
    "only JSON": (CALL, {"accept": "application/json"}, "not acceptable, in words"),
    "only a stream": (CALL, {"accept": "text/event-stream"}, "not acceptable, in words"),
    "anything": (CALL, {"accept": "*/*"}, None),
    "ranges": (CALL, {"accept": "Application/*;q=0.5 , text/*"}, None),
    "a session id": (CALL, {"mcp_session_id": "abc"}, None),
    "the envelope says another revision": (
        {**CALL, "params": {**ECHO, "_meta": {**MODERN_META, VERSION_KEY: "2025-11-25"}}},
        {},
        None,
    ),
    "no envelope": (request("tools/call", ECHO), {}, None),
    "half an envelope": (request("tools/call", {**ECHO, "_meta": {VERSION_KEY: MODERN}}), {}, None),
    "an envelope of the wrong type": (request("tools/call", {**ECHO, "_meta": 5}), {}, None),
    "initialize": ({**INITIALIZE, "params": {**INITIALIZE["params"], "_meta": MODERN_META}}, {}, None),
    "a log level": (
        {**CALL, "params": {**ECHO, "_meta": {**MODERN_META, "io.modelcontextprotocol/logLevel": "info"}}},
        {},
        None,
    ),
    "progress": ({**CALL, "params": {**ECHO, "_meta": {**MODERN_META, "progressToken": 1}}}, {}, None),
}


METHODS: list[tuple[str, dict[str, str], str | None]] = [
    *(
        (method, {"mcp-protocol-version": MODERN}, "method not allowed, in words")
        for method in ("GET", "DELETE")
    ),
    *((method, {}, None) for method in ("GET", "DELETE", "PUT", "OPTIONS")),
    ("GET", {"mcp-protocol-version": "2025-06-18", "accept": "text/event-stream"}, None),
    ("GET", {"mcp-session-id": "0" * 32}, None),
    ("DELETE", {"mcp-session-id": "0" * 32}, None),
    ("POST", {"mcp-session-id": "0" * 32}, None),
    ("POST", {}, None),
]
