"""``/mcp``: Streamable HTTP for every revision.

The era is the ``MCP-Protocol-Version`` header's, as the SDK has it: none, or a revision with a handshake,
is the 2025 era; anything else is the modern one, unknown revisions included.
"""

from __future__ import annotations

import logging

from ...common.running import WorkEnded
from ...http_server.guard import Receive, Scope, Send
from ..fast_path import HANDSHAKE_VERSIONS
from ..messages import jsonrpc
from ..state.running_calls import Busy
from .call_endings import End
from .exchange import Exchange
from .handshake_era import HandshakeEra
from .modern_era import ModernEra

_log = logging.getLogger(__name__)
_HANDSHAKES: frozenset[bytes | None] = frozenset(
    {None, *(version.encode() for version in HANDSHAKE_VERSIONS)}
)
_REQUEST_CANCELLED = -32800
_ENDED: dict[object, tuple[int, int, str]] = {
    End.SESSION_ENDED: (404, jsonrpc.INVALID_REQUEST, "The session has ended"),
    End.STOPPING: (503, jsonrpc.INTERNAL_ERROR, "The server is stopping"),
}


class Endpoint:
    """The ASGI app of ``/mcp``. Every request gets an answer, whatever happens."""

    def __init__(self, modern: ModernEra, handshake: HandshakeEra) -> None:
        self._modern = modern
        self._handshake = handshake

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        exchange = Exchange(scope, receive, send)
        version = exchange.headers.get(b"mcp-protocol-version")
        era = self._handshake if version in _HANDSHAKES else self._modern
        try:
            await era(exchange)
        except WorkEnded as ended:
            await _answer_ended(exchange, ended.why)
        except Busy as busy:
            await _refuse(exchange, 503, jsonrpc.INTERNAL_ERROR, str(busy))
        except Exception:
            if exchange.started and not exchange.streaming:
                raise
            _log.exception("a request to /mcp failed")
            await _refuse(exchange, 500, jsonrpc.INTERNAL_ERROR, "Internal error")


async def _answer_ended(exchange: Exchange, end: object) -> None:
    if end is End.CANCELLED:
        # as the SDK does in this era and its client expects: an event, which the client may ignore
        if not exchange.streaming:
            await exchange.stream()
        await _refuse(exchange, 200, _REQUEST_CANCELLED, "Request cancelled")
    elif end in _ENDED:
        await _refuse(exchange, *_ENDED[end])


async def _refuse(exchange: Exchange, status: int, code: int, message: str) -> None:
    await exchange.refuse(status, message, code=code, request_id=exchange.request_id)
