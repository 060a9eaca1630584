"""A session's message streams, held to what its server may send."""

from __future__ import annotations

import json
from contextvars import Context
from typing import Any

import anyio
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse
from typing_extensions import override

from .allowance import Allowance


class MeteredReading(ObjectReceiveStream[SessionMessage | Exception]):
    """Gives what ``stream`` does, until the server has sent too much: then it ends."""

    def __init__(self, stream: Any, allowance: Allowance, writing: MeteredWriting) -> None:
        self._stream = stream
        self._allowance = allowance
        self._writing = writing

    @property
    def last_context(self) -> Context | None:
        """The context in which the message was received, if the stream has it."""
        return getattr(self._stream, "last_context", None)

    @override
    async def receive(self) -> SessionMessage | Exception:
        """The next message. Raises ``anyio.EndOfStream``."""
        item: SessionMessage | Exception = await self._stream.receive()
        message = None if isinstance(item, Exception) else item.message
        if isinstance(message, JSONRPCRequest):
            self._allowance.unasked()
            self._allowance.begin(message.id, len(json.dumps(message.params)))
        elif not isinstance(message, JSONRPCResponse | JSONRPCError) or not self._writing.expects_answer():
            self._allowance.unasked()
        if self._allowance.excess:
            raise anyio.EndOfStream
        return item

    @override
    async def aclose(self) -> None:
        """Close the stream."""
        await self._stream.aclose()


class MeteredWriting(ObjectSendStream[SessionMessage]):
    """Sends to ``stream``, and notes what is asked there and what was answered."""

    def __init__(self, stream: Any, allowance: Allowance) -> None:
        self._stream = stream
        self._allowance = allowance
        self._unanswered = 0

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
        try:
            await self._stream.send(item)
        finally:
            if not isinstance(message, JSONRPCRequest | JSONRPCNotification):
                self._allowance.end(message.id)

    @override
    async def aclose(self) -> None:
        """Close the stream."""
        await self._stream.aclose()
