"""Lines of bytes to JSON-RPC messages and back. No input raises anything but ``Refusal``.

MCP 2026-07-28, basic/transports: messages are UTF-8 JSON, one a line, without batches.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, cast

from pydantic_core import from_json

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
INTERNAL_ERROR = -32603
MAX_LINE_BYTES = 4 * 1024 * 1024

RequestId = int | str
_BOM = b"\xef\xbb\xbf"


class Refusal(Exception):
    """A line that is answered with an error. ``request_id`` is ``None`` when it cannot be known."""

    def __init__(self, code: int, message: str, request_id: RequestId | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.request_id = request_id

    def answer(self) -> dict[str, Any]:
        """The JSON-RPC error response."""
        return error(self.request_id, self.code, self.message)


class Lines:
    """Cuts a stream of bytes into lines of at most ``limit`` bytes.

    A longer line is dropped as it arrives and given once as ``None``, so memory stays bounded.
    """

    def __init__(self, limit: int = MAX_LINE_BYTES) -> None:
        self._limit = limit
        self._kept = bytearray()
        self._dropping = False

    def feed(self, chunk: bytes) -> Iterator[bytes | None]:
        """Every line that ``chunk`` completes, without its newline."""
        *completed, rest = chunk.split(b"\n")
        for part in completed:
            self._keep(part)
            yield self._take()
        self._keep(rest)

    def end(self) -> bytes | None:
        """The last line, when no newline ended it; ``b""`` when there is none."""
        return self._take()

    def _keep(self, part: bytes) -> None:
        if self._dropping or len(self._kept) + len(part) > self._limit:
            self._dropping = True
            self._kept.clear()
        else:
            self._kept += part

    def _take(self) -> bytes | None:
        dropped, line = self._dropping, bytes(self._kept)
        self._dropping = False
        self._kept.clear()
        return None if dropped else line


def read_message(line: bytes | None) -> dict[str, Any] | None:
    """The request, notification or response on ``line``; ``None`` for a blank line.

    A request's ``id`` is a string or integer, its ``method`` a string, its ``params`` an object or
    absent. Raises ``Refusal`` for everything else; ``None`` as input stands for a line over the limit.
    """
    if line is None:
        raise Refusal(INVALID_REQUEST, f"Invalid Request: a message is at most {MAX_LINE_BYTES} bytes")
    line = line.removeprefix(_BOM).strip()
    if not line:
        return None
    try:
        message: Any = from_json(line, allow_inf_nan=False)
    except ValueError as fault:
        raise Refusal(PARSE_ERROR, f"Parse error: {fault}", _recovered_id(line)) from None
    if not isinstance(message, dict):
        raise Refusal(INVALID_REQUEST, f"Invalid Request: an object is needed, not {_json_type(message)}")
    return _checked(cast("dict[str, Any]", message))


def error(request_id: RequestId | None, code: int, message: str) -> dict[str, Any]:
    """An error response; an unknown id is left out (MCP 2025-11-25, schema, JSONRPCErrorResponse)."""
    body: dict[str, Any] = {"jsonrpc": "2.0"}
    if request_id is not None:
        body["id"] = request_id
    return {**body, "error": {"code": code, "message": message}}


def encode(message: Mapping[str, Any]) -> bytes:
    """``message`` as one line. What JSON cannot carry becomes an error response that says so."""
    try:
        text = json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (ValueError, TypeError, RecursionError) as fault:
        failure = error(message.get("id"), INTERNAL_ERROR, f"The answer cannot be written as JSON: {fault}")
        text = json.dumps(failure, separators=(",", ":"))
    return text.encode("utf-8", "replace") + b"\n"


def _checked(message: dict[str, Any]) -> dict[str, Any]:
    known_id = _usable_id(message)
    if "method" not in message and ("result" in message or "error" in message):
        return message
    if "id" in message and known_id is None:
        raise Refusal(INVALID_REQUEST, "Invalid Request: 'id' must be a string or an integer")
    if message.get("jsonrpc") != "2.0":
        raise Refusal(INVALID_REQUEST, "Invalid Request: 'jsonrpc' must be \"2.0\"", known_id)
    if not isinstance(message.get("method"), str):
        raise Refusal(INVALID_REQUEST, "Invalid Request: 'method' must be a string", known_id)
    if not isinstance(message.get("params"), dict | None):
        raise Refusal(INVALID_REQUEST, "Invalid Request: 'params' must be an object", known_id)
    return message


def _usable_id(message: Mapping[str, Any]) -> RequestId | None:
    value = message.get("id")
    return value if isinstance(value, int | str) and not isinstance(value, bool) else None


def _recovered_id(line: bytes) -> RequestId | None:
    """The id of a line that a lenient reader still understands (``NaN``, a lone surrogate, bad UTF-8)."""
    try:
        message: Any = json.loads(line.decode("utf-8", "replace"), strict=False)
    except (ValueError, RecursionError):
        return None
    request_id = _usable_id(cast("dict[str, Any]", message)) if isinstance(message, dict) else None
    return None if isinstance(request_id, str) and not request_id.isascii() else request_id


def _json_type(value: Any) -> str:
    if isinstance(value, list):
        return "an array (batches are not supported)"
    return {"str": "a string", "bool": "a boolean", "NoneType": "null"}.get(type(value).__name__, "a number")
