"""The requests that the benchmarks send, and the check of what comes back."""

from __future__ import annotations

import json
from typing import Any

MODERN = "2026-07-28"
STATELESS = "2025-06-18"
ERAS = (MODERN, STATELESS)

_CLIENT = {"name": "benchmark", "version": "1"}
_META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": _CLIENT,
    "io.modelcontextprotocol/clientCapabilities": {},
}
INITIALIZED = b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'


def request(request_id: int, method: str, params: dict[str, Any]) -> bytes:
    """One line of JSON."""
    message = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def initialize() -> bytes:
    """The handshake of 2025-06-18, which every server here speaks."""
    return request(0, "initialize", {"protocolVersion": STATELESS, "capabilities": {}, "clientInfo": _CLIENT})


def echo(request_id: int, tool: str = "echo", *, era: str = STATELESS) -> bytes:
    """A call of ``echo``; the id is also in the text, so that an answer can be told from any other."""
    params: dict[str, Any] = {"name": tool, "arguments": {"text": f"call {request_id}"}}
    if era == MODERN:
        params["_meta"] = _META
    return request(request_id, "tools/call", params)


def check(answer: bytes, request_id: int) -> None:
    """Raise ``RuntimeError`` unless ``answer`` is the result of ``echo(request_id)``."""
    if b"call %d" % request_id not in answer or b'"error"' in answer or b'"isError":true' in answer:
        raise RuntimeError(f"request {request_id} was answered with {answer[:500]!r}")
