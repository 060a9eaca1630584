"""Completes event streams of the SDK: a request is answered also when its session ends first."""

from __future__ import annotations

import logging
from collections.abc import Callable, MutableMapping
from typing import Any, cast

import anyio
import pydantic_core

from ....http_server.guard import (
    App,
    Receive,
    Scope,
    Send,
)
from ...messages import jsonrpc
from ..exchange import event

_ENDED = "The session has ended"
_EVENT_STREAM = b"text/event-stream"


def quiet_about_ends() -> None:
    """Keep the SDK from logging tracebacks of streams whose session was closed: ``owing`` answers their
    clients.
    """
    logging.getLogger("mcp.server.streamable_http").addFilter(_is_no_end)


def _is_no_end(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    return error is None or not _is_end(error)


def _is_end(error: BaseException) -> bool:
    if isinstance(error, BaseExceptionGroup):
        return all(_is_end(each) for each in cast("BaseExceptionGroup[BaseException]", error).exceptions)
    return isinstance(error, anyio.ClosedResourceError | anyio.BrokenResourceError)


def owing(app: App, request_id: jsonrpc.RequestId, is_over: Callable[[], bool]) -> App:
    """``app``, whose event stream ends with a response even when its session ``is_over`` before.

    The SDK closes the streams of a deleted session without their responses. A stream that it closes so that
    the client resumes it is not changed.
    """

    async def answered(scope: Scope, receive: Receive, send: Send) -> None:
        watched = _Watched(send, request_id, is_over)
        await app(scope, receive, watched)
        await watched.complete()

    return answered


class _Watched:
    """A ``send`` that looks for the response among the events."""

    def __init__(self, send: Send, request_id: jsonrpc.RequestId, is_over: Callable[[], bool]) -> None:
        self._send = send
        self._request_id = request_id
        self._is_over = is_over
        self._owes = False
        self._open = False

    async def __call__(self, message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            types = [value for name, value in message.get("headers", ()) if name.lower() == b"content-type"]
            self._owes = message["status"] == 200 and any(each.startswith(_EVENT_STREAM) for each in types)
            self._open = True
        else:
            self._open = message.get("more_body", False)
            body: bytes = message.get("body", b"")
            self._owes = self._owes and not self._responds(body)
            if self._owes and not self._open and self._is_over():
                message = {**message, "body": body + self._ended()}
        await self._send(message)

    async def complete(self) -> None:
        """Complete a stream that the SDK left without a response: its session was closed too early."""
        if self._open and self._owes and self._is_over():
            await self({"type": "http.response.body"})

    def _ended(self) -> bytes:
        return event(jsonrpc.encode(jsonrpc.error(self._request_id, jsonrpc.INVALID_REQUEST, _ENDED)))

    def _responds(self, events: bytes) -> bool:
        """Whether the response is among ``events``, which are complete."""
        if b'"result"' not in events and b'"error"' not in events:
            return False
        for line in events.splitlines():
            if line.startswith(b"data: {"):
                event = pydantic_core.from_json(line[6:])
                if "method" not in event and event.get("id") == self._request_id:
                    return True
        return False
