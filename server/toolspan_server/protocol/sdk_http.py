"""The SDK's HTTP server, as the endpoint uses it. Importing this module imports ``mcp``."""

from __future__ import annotations

import json
import logging
from collections.abc import MutableMapping
from typing import Any

import anyio
import anyio.abc
from mcp.server.lowlevel.server import Server
from mcp.server.runner import serve_loop
from mcp.server.sse import SseServerTransport
from mcp.server.streamable_http import StreamableHTTPServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from ._exchange import replayed
from .guard import App, Receive, Scope, Send

_log = logging.getLogger(__name__)
_HEADERS = (
    (b"content-type", b"application/json"),
    (b"accept", b"application/json, text/event-stream"),
)


class SdkHttp:
    """Answers what is not plain: single requests, the streams of a session, and legacy HTTP+SSE."""

    def __init__(self, server: Server[Any], message_bytes: int) -> None:
        # 400 and its reason are the whole answer to an unreadable message; the SDK logs a traceback as well.
        logging.getLogger("mcp.server.sse").setLevel(logging.CRITICAL)
        self._server = server
        self._lifespan: Any = None
        self._group: anyio.abc.TaskGroup | None = None
        self._single = StreamableHTTPSessionManager(
            server, stateless=True, max_request_body_size=message_bytes
        )
        self._sse = SseServerTransport("/messages/", max_request_body_size=message_bytes)
        self.handle: App = self._single.handle_request
        self.post_message: App = self._sse.handle_post_message

    async def run(self, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        """Serve until cancelled."""
        async with (
            self._server.lifespan(self._server) as self._lifespan,
            self._single.run(),
            anyio.create_task_group() as self._group,
        ):
            task_status.started()
            await anyio.sleep_forever()

    async def open_sse(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The stream of a legacy HTTP+SSE session."""
        async with self._sse.connect_sse(scope, receive, send) as (incoming, outgoing):
            await self._server.run(incoming, outgoing, self._server.create_initialization_options())

    async def open_session(self, session_id: bytes) -> SessionBehind:
        """A session of the SDK's with that id, which still waits for its handshake."""
        assert self._group is not None
        session = SessionBehind(self._server, session_id, self._lifespan)
        await self._group.start(session.run)
        return session


class SessionBehind:
    """One session of the 2025 era in the SDK. ``over`` once it has ended."""

    def __init__(self, server: Server[Any], session_id: bytes, lifespan: Any) -> None:
        self._server = server
        self._lifespan = lifespan
        self._id = session_id
        self._transport = StreamableHTTPServerTransport(session_id.decode())
        self.over = False
        self.handle: App = self._transport.handle_request

    async def run(self, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        """Serve the session until it is closed."""
        try:
            async with self._transport.connect() as (incoming, outgoing):
                task_status.started()
                await serve_loop(
                    self._server,
                    incoming,
                    outgoing,
                    lifespan_state=self._lifespan,
                    session_id=self._id.decode(),
                )
        except Exception:
            _log.exception("a session failed")
        finally:
            self.over = True

    async def tell(self, body: bytes) -> dict[str, Any] | None:
        """Post a message in the client's name; the answer, which is ``None`` for a notification."""
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


def _answer(written: bytes) -> dict[str, Any] | None:
    """The JSON-RPC message in a body of JSON, or in the only event of a stream."""
    events = [line[5:] for line in written.splitlines() if line.startswith(b"data:")]
    text = events[-1] if events else written
    return json.loads(text) if text.strip() else None
