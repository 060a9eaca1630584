"""The SDK's HTTP server, as the endpoint uses it. Importing this module imports ``mcp``."""

from __future__ import annotations

import json
import logging
from collections.abc import MutableMapping
from contextlib import suppress
from typing import Any

import anyio
import anyio.abc
from mcp.server.lowlevel.server import Server
from mcp.server.runner import serve_loop
from mcp.server.streamable_http import StreamableHTTPServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from ....http_server.guard import (
    App,
    Receive,
    Scope,
    Send,
)
from ....live.views import ServerView
from ...sdk.change_notices import announce
from ...sdk.event_store import Events
from ...sdk.server import SdkServer
from ...sdk.session_channel import Channel
from ...state.connection_state import ConnectionState
from ...state.memory_budgets import MemoryBudgets
from ..exchange import replayed
from .legacy_sse import LegacySse
from .unanswered_requests import quiet_about_ends

_log = logging.getLogger(__name__)
_HEADERS = (
    (b"content-type", b"application/json"),
    (b"accept", b"application/json, text/event-stream"),
)


_RETRY_MS = 1_000
"""How many milliseconds a client whose stream was closed should wait before it resumes."""


class SdkHttp:
    """Answers what is not plain: single requests, the streams of a session, and legacy HTTP+SSE."""

    def __init__(
        self, server: SdkServer, view: ServerView, message_bytes: int, budgets: MemoryBudgets
    ) -> None:
        quiet_about_ends()
        self._server = server
        self._budgets = budgets
        self._view = view
        self._group: anyio.abc.TaskGroup | None = None
        self._single = StreamableHTTPSessionManager(
            server, stateless=True, max_request_body_size=message_bytes
        )
        self._legacy = LegacySse(server, view, budgets.unread, message_bytes)
        self.handle: App = self._single.handle_request
        self.end_subscriptions = server.end_subscriptions
        self.open_sse: App = self._legacy.open
        self.post_message: App = self._legacy.post

    async def run(self, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        """Serve until cancelled."""
        async with (
            self._single.run(),
            anyio.create_task_group() as self._group,
        ):
            task_status.started()
            await anyio.sleep_forever()

    async def open_session(self, session_id: bytes) -> SdkSession:
        """A session of the SDK with that id, before its handshake."""
        assert self._group is not None
        session = SdkSession(self._server, self._view, session_id, self._budgets)
        await self._group.start(session.run)
        return session


class SdkSession:
    """One session of the 2025 era in the SDK. ``over`` once it has ended."""

    def __init__(
        self, server: Server[Any], view: ServerView, session_id: bytes, budgets: MemoryBudgets
    ) -> None:
        self._server = server
        self._view = view
        self._id = session_id
        self._unread = budgets.unread
        self._connection_state = ConnectionState()
        self._events = Events(budgets.events)
        self._transport = StreamableHTTPServerTransport(
            session_id.decode(), event_store=self._events, retry_interval=_RETRY_MS
        )
        self._whole = anyio.CancelScope()
        self._channel: Channel | None = None
        self.over = False

    @property
    def full(self) -> bool:
        """Whether so many of its requests are open that another one is refused."""
        return self._channel is not None and self._channel.full

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request of the session."""
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):  # it has ended meanwhile
            await self._transport.handle_request(_resumable(scope), receive, send)

    async def run(self, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        """Serve the session until it is closed."""
        try:
            with self._whole:
                await self._serve(task_status)
        except Exception:
            _log.exception("a session failed")
        finally:
            self.over = True
            self._events.close()
            if self._channel is not None:
                self._channel.close()

    async def _serve(self, task_status: anyio.abc.TaskStatus[None]) -> None:
        async with (
            self._transport.connect() as (incoming, outgoing),
            anyio.create_task_group() as group,
        ):
            self._channel = channel = Channel(incoming, outgoing, self._unread, self._end)
            group.start_soon(announce, self._view, self._connection_state, channel.outgoing)
            task_status.started()
            await serve_loop(
                self._server,
                channel.incoming,
                channel.outgoing,
                lifespan_state=self._connection_state,
                session_id=self._id.decode(),
            )
            group.cancel_scope.cancel()

    def _end(self, why: str) -> None:
        if not self._whole.cancel_called:
            _log.warning("A session was ended: %s", why)
        self.over = True
        self._whole.cancel()

    async def post(self, body: bytes) -> dict[str, Any] | None:
        """Post a message for the client; returns the answer, which is ``None`` for a notification."""
        written = bytearray()

        async def write(message: MutableMapping[str, Any]) -> None:
            written.extend(message.get("body", b""))

        headers = [*_HEADERS, (b"mcp-session-id", self._id)]
        scope: Scope = {
            "type": "http",
            "http_version": "1.1",
            "method": "POST",
            "path": "/mcp",
            "query_string": b"",
            "headers": headers,
        }
        await self._transport.handle_request(scope, replayed(body), write)
        return _answer(bytes(written))

    async def close(self) -> None:
        """End the session and every stream of it."""
        self.over = True
        with anyio.CancelScope(shield=True):
            await self._transport.terminate()


def _resumable(scope: Scope) -> Scope:
    """``scope``; a request that resumes a stream is passed on as one of an older protocol version.

    Then the SDK sends nothing of its own between the last event that it repeats and the first new one: what
    came in that moment would be lost.
    """
    if scope["method"] != "GET" or all(name != b"last-event-id" for name, _ in scope["headers"]):
        return scope
    headers = [line for line in scope["headers"] if line[0] != b"mcp-protocol-version"]
    return {**scope, "headers": headers}


def _answer(written: bytes) -> dict[str, Any] | None:
    """The JSON-RPC message in a JSON body, or in the only event of a stream."""
    events = [line[5:] for line in written.splitlines() if line.startswith(b"data:")]
    text = events[-1] if events else written
    return json.loads(text) if text.strip() else None
