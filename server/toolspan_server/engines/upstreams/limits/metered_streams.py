"""A session's message streams, held to what its server may send."""

from __future__ import annotations

import json
from contextvars import Context
from typing import Any

import anyio
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp.shared.dispatcher import coerce_request_id
from mcp.shared.message import SessionMessage
from mcp_types import (
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)
from typing_extensions import override

from ....common.wire.json_rpc import JsonRpcWire
from .allowance import Allowance
from .answers import excerpt, is_refusal, refusal, short
from .unowned import Unowned

_CANCELLED = "notifications/cancelled"
_LASTING = frozenset({"subscriptions/listen"})
"""Requests whose answer comes only when they end."""


class MeteredReading(ObjectReceiveStream[SessionMessage | Exception]):
    """Gives what ``stream`` does, until the server has sent too much: then it ends. ``wire`` is told.

    An answer that is to no request of ours is the failure of the only open one; where several are open, it is
    ``unowned``.
    """

    def __init__(
        self,
        stream: Any,
        allowance: Allowance,
        writing: MeteredWriting,
        unowned: Unowned,
        wire: JsonRpcWire | None = None,
    ) -> None:
        self._stream = stream
        self._wire = wire
        self._allowance = allowance
        self._writing = writing
        self._unowned = unowned

    @property
    def last_context(self) -> Context | None:
        """The context in which the message was received, if the stream has it."""
        return getattr(self._stream, "last_context", None)

    @override
    async def receive(self) -> SessionMessage | Exception:
        """The next message. Raises ``anyio.EndOfStream``."""
        item: SessionMessage | Exception = await self._stream.receive()
        if self._wire is not None:
            _tell_received(self._wire, item)
        message = None if isinstance(item, Exception) else item.message
        if isinstance(message, JSONRPCRequest):
            self._allowance.unasked()
            self._allowance.begin(message.id, len(json.dumps(message.params)))
        elif not isinstance(message, JSONRPCResponse | JSONRPCError) or not self._writing.expects_answer():
            self._allowance.unasked()
        if self._allowance.excess:
            raise anyio.EndOfStream
        if isinstance(message, JSONRPCResponse | JSONRPCError):
            return self._owned(item, message)
        return item

    @override
    async def aclose(self) -> None:
        """Close the stream."""
        await self._stream.aclose()

    def _owned(
        self, item: SessionMessage | Exception, answer: JSONRPCResponse | JSONRPCError
    ) -> SessionMessage | Exception:
        """``item``, or what to take in its place."""
        if answer.id is not None and self._writing.was_asked(answer.id):
            self._writing.closed(answer.id)
            return item
        fault = _fault(answer)
        request_id = self._writing.only_open()
        if request_id is None:
            self._unowned.note(fault)
            return item
        self._writing.closed(request_id)
        return SessionMessage(refusal(request_id, fault))


def _fault(answer: JSONRPCResponse | JSONRPCError) -> str:
    if isinstance(answer, JSONRPCError) and is_refusal(answer.error):
        return answer.error.message
    if isinstance(answer, JSONRPCError) and answer.id is None:
        return f"sent an error that names no request: {excerpt(answer.error.message.encode())}"
    return f"sent an answer to a request that was not made (id {short(answer.id)})"


class MeteredWriting(ObjectSendStream[SessionMessage]):
    """Sends to ``stream``, and notes what is asked there and what was answered. ``wire`` is told of it."""

    def __init__(self, stream: Any, allowance: Allowance, wire: JsonRpcWire | None = None) -> None:
        self._stream = stream
        self._wire = wire
        self._allowance = allowance
        self._unanswered = 0
        self._last_number = 0
        self._names: set[RequestId] = set()
        self._open: dict[RequestId, None] = {}

    def was_asked(self, request_id: RequestId) -> bool:
        """Whether a request of that id was sent, be it answered or cancelled meanwhile."""
        named = coerce_request_id(request_id)
        return 0 <= named <= self._last_number if isinstance(named, int) else named in self._names

    def only_open(self) -> RequestId | None:
        """The one request that waits for its answer, if there is one alone."""
        return next(iter(self._open)) if len(self._open) == 1 else None

    def closed(self, request_id: Any) -> None:
        """The request waits no longer: it was answered, or cancelled."""
        self._open.pop(coerce_request_id(request_id), None)

    def expects_answer(self) -> bool:
        """Whether an answer was asked for; it counts as having come."""
        if not self._unanswered:
            return False
        self._unanswered -= 1
        return True

    @override
    async def send(self, item: SessionMessage) -> None:
        """Send a message, once the ones before have gone. Raises ``anyio.BrokenResourceError``."""
        if self._allowance.excess:
            raise anyio.BrokenResourceError
        message = item.message
        if isinstance(message, JSONRPCRequest):
            self._unanswered += 1
            self._opened(message)
        elif isinstance(message, JSONRPCNotification) and message.method == _CANCELLED:
            self.closed((message.params or {}).get("requestId"))
        if self._wire is not None:
            self._wire.sent(message.model_dump_json(by_alias=True, exclude_unset=True))
        try:
            await self._stream.send(item)
        finally:
            if not isinstance(message, JSONRPCRequest | JSONRPCNotification):
                self._allowance.end(message.id)

    @override
    async def aclose(self) -> None:
        """Close the stream."""
        await self._stream.aclose()

    def _opened(self, request: JSONRPCRequest) -> None:
        named = coerce_request_id(request.id)
        if isinstance(named, int):
            self._last_number = max(self._last_number, named)
        else:
            self._names.add(named)
        if request.method not in _LASTING:
            self._open[named] = None


def _tell_received(wire: JsonRpcWire, item: SessionMessage | Exception) -> None:
    if isinstance(item, Exception):
        wire.note("what is no message", sent=False, body=str(item))
    else:
        wire.received(item.message.model_dump_json(by_alias=True, exclude_unset=True))
