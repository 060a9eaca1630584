"""Bytes to JSON-RPC messages and back. No input raises anything but ``Refusal``.

MCP 2026-07-28, basic/transports: messages are UTF-8 JSON, one a line, without batches.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from itertools import accumulate
from json.encoder import encode_basestring
from typing import Any, cast

from pydantic_core import from_json

from ...common.json_size import MAX_VALUES, holds_more_values
from ...common.json_values import MAX_DEPTH, MAX_DIGITS
from ...common.lines import MAX_LINE_BYTES, Lines, Overlong

__all__ = [
    "INTERNAL_ERROR",
    "INVALID_REQUEST",
    "MAX_CONTAINERS",
    "MAX_LINE_BYTES",
    "MAX_VALUES",
    "PARSE_ERROR",
    "Lines",
    "Overlong",
    "Refusal",
    "RequestId",
    "checked",
    "dumps",
    "encode",
    "error",
    "framed",
    "parse",
    "quoted",
    "read_message",
]

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
INTERNAL_ERROR = -32603
MAX_CONTAINERS = 20_000
_MAX_LENIENT_BYTES = 65_536

RequestId = int | str
_BOM = b"\xef\xbb\xbf"

quoted: Callable[[str], str] = encode_basestring
"""A text as a JSON string."""


def _compact() -> Callable[[Any], str]:
    encoder = json.JSONEncoder(
        ensure_ascii=False, allow_nan=False, check_circular=False, separators=(",", ":")
    )
    make: Any = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return encoder.encode
    written: Callable[[Any, int], Iterable[str]]
    written = make(None, encoder.default, encode_basestring, None, ":", ",", False, False, False)
    return lambda value: "".join(written(value, 0))


dumps = _compact()
"""Compact JSON. Raises ``ValueError``, ``TypeError`` or ``RecursionError`` for what JSON cannot carry."""


class Refusal(Exception):
    """A message that is answered with an error. ``request_id`` is ``None`` when it cannot be known."""

    def __init__(self, code: int, message: str, request_id: RequestId | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.request_id = request_id

    def answer(self) -> dict[str, Any]:
        """The JSON-RPC error response."""
        return error(self.request_id, self.code, self.message)


def read_message(line: bytes | Overlong) -> dict[str, Any] | None:
    """The request, notification or response on ``line``; ``None`` for a blank line.

    A request's ``id`` is a string or integer, its ``method`` a string, its ``params`` an object or
    absent. Raises ``Refusal`` for everything else.
    """
    value = parse(line)
    return None if value is None else checked(value[0])


def parse(line: bytes | Overlong) -> tuple[Any] | None:
    """The JSON value on ``line``; ``None`` for a blank line. Of duplicate keys the last counts.

    Raises ``Refusal`` for what is no JSON, and for more nesting, values or bytes than the limits. Numbers
    beyond a double or of too many digits are left to whoever takes them: the executor refuses them by name.
    """
    if isinstance(line, Overlong):
        raise Refusal(
            INVALID_REQUEST, f"Invalid Request: a message is at most {line.limit} bytes", _id_at_an_end(line)
        )
    costly = len(line) > MAX_VALUES or line.count(b"[") + line.count(b"{") > MAX_DEPTH
    if costly and (excess := _excess(line)):
        raise Refusal(PARSE_ERROR, f"Parse error: {excess}", _recovered_id(line))
    try:
        return (from_json(line, allow_inf_nan=False),)
    except ValueError as fault:
        bare = line.removeprefix(_BOM).strip()
        if not bare:
            return None
        if len(bare) != len(line):
            return parse(bare)
        raise Refusal(
            PARSE_ERROR, f"Parse error: {_fault_text(line, str(fault))}", _recovered_id(line)
        ) from None


def checked(message: Any) -> dict[str, Any]:
    """``message`` when it has the shape of a request, notification or response; else raises ``Refusal``."""
    if not isinstance(message, dict):
        raise Refusal(INVALID_REQUEST, f"Invalid Request: an object is needed, not {_json_type(message)}")
    known = cast("dict[str, Any]", message)
    if "method" not in known and ("result" in known or "error" in known):
        return known
    known_id = _usable_id(known)
    if known_id is None and "id" in known:
        raise Refusal(INVALID_REQUEST, "Invalid Request: 'id' must be a string or an integer")
    if known.get("jsonrpc") != "2.0":
        raise Refusal(INVALID_REQUEST, "Invalid Request: 'jsonrpc' must be \"2.0\"", known_id)
    if not isinstance(known.get("method"), str):
        raise Refusal(INVALID_REQUEST, "Invalid Request: 'method' must be a string", known_id)
    params = known.get("params")
    if params is not None and not isinstance(params, dict):
        raise Refusal(INVALID_REQUEST, "Invalid Request: 'params' must be an object", known_id)
    return known


def error(request_id: RequestId | None, code: int, message: str, data: Any = None) -> dict[str, Any]:
    """An error response; an unknown id is left out (MCP 2025-11-25, schema, JSONRPCErrorResponse)."""
    body: dict[str, Any] = {"jsonrpc": "2.0"}
    if request_id is not None:
        body["id"] = request_id
    more = {} if data is None else {"data": data}
    return {**body, "error": {"code": code, "message": message, **more}}


def encode(message: Mapping[str, Any]) -> bytes:
    """``message`` as one line. A message that JSON cannot represent becomes an error response."""
    try:
        text = dumps(message)
    except (ValueError, TypeError, RecursionError) as fault:
        text = dumps(_unwritable(message.get("id"), fault))
    return text.encode("utf-8", "replace") + b"\n"


def framed(request_id: RequestId, result: str) -> bytes:
    """The answer to ``request_id``, one line, around a ``result`` that is JSON already."""
    written = str(request_id) if isinstance(request_id, int) else quoted(request_id)
    return f'{{"jsonrpc":"2.0","id":{written},"result":{result}}}\n'.encode("utf-8", "replace")


def _unwritable(request_id: Any, fault: Exception) -> dict[str, Any]:
    return error(request_id, INTERNAL_ERROR, f"The answer cannot be written as JSON: {fault}")


def _usable_id(message: Any) -> RequestId | None:
    value = cast("dict[str, Any]", message).get("id") if isinstance(message, dict) else None
    return value if isinstance(value, (int, str)) and value is not True and value is not False else None


_SIGNED = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")
_OTHERS = bytes(set(range(256)) - set(b"[]{}"))
_UNMARKED = bytes(set(range(256)) - set(b'[]{}"'))
_TOO_DEEP = f"it is nested more than {MAX_DEPTH} levels deep"
_TOO_MANY = f"it holds more than {MAX_CONTAINERS:,} objects and arrays"
_TOO_MANY_VALUES = f"it holds more than {MAX_VALUES:,} values"
_TOO_MANY_DIGITS = f"a number has more than {MAX_DIGITS:,} digits"
_WORDS = rb"NaN|-?Infinity"


def _excess(line: bytes) -> str | None:
    """The limit that JSON exceeds, found from what is outside its strings, which is fast for any input."""
    steps = b""
    if line.count(b"[") + line.count(b"{") > MAX_DEPTH:
        steps = _outside_strings(line).translate(_SIGNED, _OTHERS)
        if max(accumulate(memoryview(steps[: 2 * MAX_CONTAINERS]).cast("b")), default=0) > MAX_DEPTH:
            return _TOO_DEEP
    if holds_more_values(line, MAX_VALUES):
        return _TOO_MANY_VALUES
    return _TOO_MANY if steps.count(1) > MAX_CONTAINERS else None


def _outside_strings(line: bytes) -> bytes:
    """The brackets of ``line`` that stand outside its strings.

    Two quotes side by side may go: whether a later sign is inside a string stays the same.
    """
    if b"\\" in line:
        line = line.replace(b"\\\\", b"").replace(b'\\"', b"")
    marks = line.translate(None, _UNMARKED).replace(b'""', b"")
    return b"".join(marks.split(b'"')[::2])


def _fault_text(line: bytes, fault: str) -> str:
    """The parser's ``fault``, in the words of the limits where it is about one."""
    if fault.startswith("recursion limit"):
        return _TOO_DEEP
    if fault.startswith("number out of range"):
        return _TOO_MANY_DIGITS
    place = re.search(r" at line 1 column ([0-9]+)$", fault)
    start = max(0, int(place[1]) - 2) if place else 0
    word = re.search(_WORDS, line[start : start + 12]) if place else None
    return fault if word is None else f"{word[0].decode()} is no JSON value ({fault})"


_MEMBER = rb'"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"'
_ID = rb'"id"\s*:\s*(-?[0-9]{1,100}|"(?:[^"\\\x00-\x1f]|\\.){0,500}")'
_ID_FIRST = rb"\s*\{\s*(?:" + _MEMBER + rb"\s*,\s*)*" + _ID + rb"\s*[,}]"
_ID_LAST = rb"[{,]\s*(?:" + _MEMBER + rb"\s*,\s*)*" + _ID + rb"\s*(?:,\s*" + _MEMBER + rb"\s*)*\}\s*$"
"""Not compiled before they are needed: that takes milliseconds of every start."""


def _recovered_id(line: bytes) -> RequestId | None:
    """The id of a short line that a lenient reader still understands, or that names it first or last."""
    if len(line) <= _MAX_LENIENT_BYTES:
        with suppress(ValueError, RecursionError):
            return _certain(_usable_id(json.loads(line.decode("utf-8", "replace"), strict=False)))
    return _id_at_an_end(Overlong(line[:1024], line[-1024:]))


def _id_at_an_end(line: Overlong) -> RequestId | None:
    found = re.match(_ID_FIRST, line.head) or re.search(_ID_LAST, line.tail)
    if found is None:
        return None
    try:
        return _certain(cast("RequestId", json.loads(found[1])))
    except ValueError:
        return None


def _certain(request_id: RequestId | None) -> RequestId | None:
    """``request_id`` unless its characters may not be what the client sent."""
    return None if isinstance(request_id, str) and not request_id.isascii() else request_id


def _json_type(value: Any) -> str:
    if isinstance(value, list):
        return "an array (batches are not supported)"
    return {"str": "a string", "bool": "a boolean", "NoneType": "null"}.get(type(value).__name__, "a number")
