"""Bodies of answers over HTTP, in which what is no answer to the request becomes an error of ours."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextvars import ContextVar
from functools import partial

import httpx2
from mcp_types import JSONRPCError, RequestId
from typing_extensions import override

from ...common.beside_loop import run_beside
from .limits.answers import of_own_stream, of_shared_stream, refusal
from .limits.bounded_json import MAX_MESSAGE_BYTES, mend_halves

_EVENTS = "text/event-stream"
_REQUEST = re.compile(rb'\{"jsonrpc": ?"2.0", ?"id": ?(\d{1,18}|"(?:[^"\\]|\\.){0,200}"), ?"method"')

_OURS = httpx2.ServerSentEvent()

_ASKED: ContextVar[RequestId | None] = ContextVar("toolspan_http_request_id", default=None)
"""The request whose task sends: its stream may be asked for again, which does not name it."""


def note_asked(request: httpx2.Request) -> None:
    """Note the id of the message that ``request`` posts, for what its task sends later."""
    if request.method == "POST":
        _ASKED.set(_posted(request))


class CheckedEvents(httpx2.AsyncByteStream):
    """The events of ``response``, the stream of one request or, over HTTP+SSE and by GET, of all."""

    def __init__(self, response: httpx2.Response, body: httpx2.AsyncByteStream) -> None:
        request = response.request
        self._body = body
        self._is_new = request.method == "POST"
        self._request_id = _posted(request) if self._is_new else _ASKED.get()
        self._inner = httpx2.Response(200, headers={"content-type": _EVENTS}, stream=body, request=request)

    @override
    async def __aiter__(self) -> AsyncIterator[bytes]:
        last_id = ""
        try:
            async for event in httpx2.EventSource(self._inner, max_event_size=MAX_MESSAGE_BYTES):
                last_id = event.id
                yield _written(event, await self._checked(event))
        except httpx2.SSEError:
            if self._request_id is None:
                raise
            fault = f"sent an event of more than {MAX_MESSAGE_BYTES} bytes"
            yield _written(_OURS, _json(refusal(self._request_id, fault)))
        except httpx2.TransportError:
            if last_id or not self._is_new:
                raise
        can_resume = last_id or not self._is_new
        if self._request_id is not None and not can_resume:  # after the answer nobody reads on
            ended = refusal(self._request_id, "ended the stream of its answer before that came")
            yield _written(_OURS, _json(ended))

    @override
    async def aclose(self) -> None:
        await self._body.aclose()

    async def _checked(self, event: httpx2.ServerSentEvent) -> str:
        if event.event != "message" or not event.data:
            return event.data
        text = mend_halves(event.data.encode("utf-8", "replace"))
        if self._request_id is None:
            work = partial(of_shared_stream, text)
        else:
            work = partial(of_own_stream, text, self._request_id)
        return _json(await run_beside(len(text), work)) or text.decode()


class CheckedBody(httpx2.AsyncByteStream):
    """The ``body`` of ``response``, one message, if it answers a request."""

    def __init__(self, response: httpx2.Response, body: httpx2.AsyncByteStream) -> None:
        self._body = body
        self._request_id = _posted(response.request)

    @override
    async def __aiter__(self) -> AsyncIterator[bytes]:
        chunks: list[bytes] = []
        try:
            async for chunk in self._body:
                chunks.append(chunk)
        except httpx2.StreamError as fault:
            if self._request_id is None:
                raise
            yield _json(refusal(self._request_id, f"sent too much: {fault}")).encode()
            return
        text = mend_halves(b"".join(chunks))
        found = None
        if self._request_id is not None:
            work = partial(of_own_stream, text, self._request_id, whole=True)
            found = await run_beside(len(text), work)
        yield _json(found).encode() or text

    @override
    async def aclose(self) -> None:
        await self._body.aclose()


def checked(response: httpx2.Response, body: httpx2.AsyncByteStream) -> httpx2.AsyncByteStream:
    """``body`` of ``response``, checked where it is of events, or the answer to a request."""
    kind = response.headers.get("content-type", "").lower()
    if kind.startswith(_EVENTS):
        response.headers["content-type"] = _EVENTS  # of UTF-8 always
        return CheckedEvents(response, body)
    if kind.startswith("application/json") and response.is_success and response.request.method == "POST":
        return CheckedBody(response, body)
    return body


def _posted(request: httpx2.Request) -> RequestId | None:
    """The id of the request that ``request`` posts, if it does, as the SDK writes it."""
    found = _REQUEST.match(request.content)
    return None if found is None else json.loads(found[1])


def _json(message: JSONRPCError | None) -> str:
    return "" if message is None else message.model_dump_json(by_alias=True, exclude_unset=True)


def _written(event: httpx2.ServerSentEvent, data: str) -> bytes:
    """``event`` with ``data``, as it is on the wire."""
    lines = [f"event: {event.event}", *(f"data: {line}" for line in data.split("\n"))]
    lines += [f"id: {event.id}"] if event.id else []
    lines += [f"retry: {event.retry}"] if event.retry is not None else []
    return "\n".join(lines).encode("utf-8", "replace") + b"\n\n"
