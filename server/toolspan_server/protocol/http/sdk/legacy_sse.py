"""Legacy HTTP+SSE: sessions by the id that their clients post to. Importing this module imports ``mcp``."""

from __future__ import annotations

import logging
import re
from collections.abc import MutableMapping
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any

import anyio
from mcp.server.runner import serve_dual_era_loop
from mcp.server.sse import SseServerTransport
from starlette.requests import ClientDisconnect, Request

from ....http_server.asgi import (
    Receive,
    RefusedResponse,
    Scope,
    Send,
)
from ....http_server.unread_bytes import UnreadBytes
from ....live.views import ServerView
from ...messages import jsonrpc
from ...sdk.change_notices import announce
from ...sdk.server import SdkServer
from ...sdk.session_channel import MOST_ASKED, MOST_BYTES, Channel
from ...state.connection_state import ConnectionState
from ..exchange import replayed

_log = logging.getLogger(__name__)
_SESSION = re.compile(rb"session_id=([0-9a-f]+)")
FULL = RefusedResponse(
    503,
    f"This session has {MOST_ASKED} requests that are not answered yet, or holds {MOST_BYTES:,} bytes, which "
    "is the most; read its answers, then ask again",
    code=jsonrpc.INTERNAL_ERROR,
)


class LegacySse:
    """The streams of HTTP+SSE, and the messages posted to them."""

    def __init__(self, server: SdkServer, view: ServerView, unread: UnreadBytes, message_bytes: int) -> None:
        # 400 and its reason are the whole answer to an unreadable message; the SDK logs a traceback as well.
        logging.getLogger("mcp.server.sse").setLevel(logging.CRITICAL)
        self._server = server
        self._view = view
        self._unread = unread
        self._transport = SseServerTransport("/messages/", max_request_body_size=message_bytes)
        self._channels: dict[bytes, Channel] = {}

    async def open(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Open the stream of a session, until its client disconnects, or leaves too much unread."""
        whole = anyio.CancelScope()
        session_id = b""

        def end(why: str) -> None:
            if not whole.cancel_called:
                _log.warning("A stream of HTTP+SSE was ended: %s", why)
            whole.cancel()

        async def noted(message: MutableMapping[str, Any]) -> None:
            nonlocal session_id
            if not session_id and (found := _SESSION.search(message.get("body", b""))):
                session_id = found[1]
                self._channels[session_id] = channel
            await send(message)

        connection_state = ConnectionState()
        with whole:
            async with (
                self._transport.connect_sse(scope, receive, noted) as (incoming, outgoing),
                anyio.create_task_group() as group,
            ):
                channel = Channel(incoming, outgoing, self._unread, end)
                try:
                    group.start_soon(announce, self._view, connection_state, channel.outgoing)
                    await serve_dual_era_loop(
                        self._server, channel.incoming, channel.outgoing, lifespan_state=connection_state
                    )
                finally:
                    self._channels.pop(session_id, None)
                    channel.close()
                group.cancel_scope.cancel()

    async def post(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Accept a message of a session's client; a request is refused when too many are open."""
        request = Request(scope, receive)
        given = request.query_params.get("session_id", "").replace("-", "").lower().encode()
        channel = self._channels.get(given)
        arriving: AbstractContextManager[None] = nullcontext()
        if channel is not None:
            try:
                body = await request.body()
            except ClientDisconnect:
                return
            if channel.full and _asks(body):
                await FULL.send(send)
                return
            arriving, receive = channel.arriving(len(body)), replayed(body, receive)
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError), arriving:  # it ends meanwhile
            await self._transport.handle_post_message(scope, receive, send)


def _asks(body: bytes) -> bool:
    """Whether ``body`` is a request; answers and notifications need no answer."""
    try:
        message = jsonrpc.read_message(body)
    except jsonrpc.Refusal:
        return False
    return message is not None and "method" in message and "id" in message
