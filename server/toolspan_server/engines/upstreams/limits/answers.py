"""Whose answer a message of a server is: what is no message, or another request's answer, is no answer.

In the place of such a message comes an error of ours, so that the request ends and says why.
"""

from __future__ import annotations

import secrets
from typing import Any, TypeGuard, cast

from mcp.shared.dispatcher import coerce_request_id
from mcp_types import (
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCResponse,
    RequestId,
)

from ....common.visible import visible_line
from .bounded_json import parsed
from .messages import message_of

_MARK = secrets.token_hex(16)
"""What tells our errors from those that a server sends."""

_SHOWN = 80


def refusal(request_id: RequestId | None, fault: str) -> JSONRPCError:
    """The error in place of an answer. ``fault`` goes on from the server's name: ``sent …``; without a
    ``request_id`` it is not known which one it is about."""
    error = ErrorData(code=PARSE_ERROR, message=fault, data=_MARK)
    return JSONRPCError(jsonrpc="2.0", id=request_id, error=error)


def is_refusal(error: ErrorData) -> bool:
    """Whether ``error`` is of ``refusal``, and not the server's."""
    return isinstance(error.data, str) and error.data == _MARK


def excerpt(text: bytes) -> str:
    """The beginning of ``text``, as a person may see it."""
    shown = visible_line(text[: 4 * _SHOWN].decode("utf-8", "replace"))
    return f"'{shown[:_SHOWN]}'" + ("…" if len(shown) > _SHOWN else "")


def short(named: RequestId | None) -> str:
    """``named`` as a person may see it."""
    return visible_line(repr(named)[:_SHOWN])


def of_own_stream(text: bytes, request_id: RequestId, *, whole: bool = False) -> JSONRPCError | None:
    """What to take in place of ``text``, which came in the stream of the request; ``None``: nothing. As the
    ``whole`` stream it has to be the answer."""
    try:
        message = message_of(text).message
    except ValueError as fault:
        return refusal(request_id, f"sent {fault}: {excerpt(text)}")
    if not isinstance(message, JSONRPCResponse | JSONRPCError):
        other = f"sent another message in place of an answer: {excerpt(text)}"
        return refusal(request_id, other) if whole else None
    named = message.id
    if named is None or coerce_request_id(named) == coerce_request_id(request_id):
        return None
    where = f"in place of that to this one (id {request_id!r})"
    return refusal(request_id, f"sent an answer to another request (id {short(named)}) {where}")


def of_shared_stream(text: bytes) -> JSONRPCError | None:
    """The same for ``text`` in a stream of all requests."""
    try:
        message_of(text)
    except ValueError as fault:
        named = _answer_in(text).get("id")
        return refusal(named if _is_id(named) else None, f"sent {fault}: {excerpt(text)}")
    return None


def is_answer(text: bytes) -> bool:
    """Whether ``text``, which is no message, is meant as an answer, and is no line of a log."""
    return "jsonrpc" in _answer_in(text)


def _answer_in(text: bytes) -> dict[str, Any]:
    try:
        value = parsed(text)
    except ValueError:
        return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) and "method" not in value else {}


def _is_id(value: Any) -> TypeGuard[RequestId]:
    return isinstance(value, int | str) and not isinstance(value, bool)
