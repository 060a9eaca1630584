"""The 2025 era over HTTP: sessions opened by ``initialize``, and plain requests without one.

MCP 2024-11-05 … 2025-11-25, basic/transports, Streamable HTTP. A session needs no SDK while its client sends
only plain requests. Otherwise the SDK takes over, after a replay of the handshake.
"""

from __future__ import annotations

from functools import partial
from typing import Any, cast

from ...http_server.auth import PRINCIPAL
from ..fast_path import Call, FastPath
from ..messages import jsonrpc
from .call_runner import CallRunner
from .exchange import NOT_ACCEPTABLE, Exchange, accepts
from .sdk.lazy_server import LazySdkServer
from .sdk.unanswered_requests import owing
from .sessions import (
    PendingRequest,
    Session,
    Sessions,
    TooManySessions,
)

_MAX_HANDSHAKE_BYTES = 65_536
_NO_SESSION = "Bad Request: Missing session ID"
_UNKNOWN = "Session not found"
_TAKEN = "Invalid Request: a request with this id is still running in this session"
_FULL = "This session has as many unanswered requests as it may have: wait for their answers, then ask again"
_INITIALIZED = b'{"jsonrpc":"2.0","method":"notifications/initialized"}'
_METHODS = (b"allow", b"GET, POST, DELETE")


class HandshakeEra:
    """Answers the requests whose ``MCP-Protocol-Version`` has a handshake, or is absent.

    A session belongs to the principal who opened it, where the guard asks for tokens, and to the endpoint.
    """

    def __init__(
        self,
        fast_path: FastPath,
        caller: CallRunner,
        sdk_server: LazySdkServer,
        sessions: Sessions,
        toolset: str | None = None,
    ) -> None:
        self._fast_path = fast_path
        self._caller = caller
        self._sdk_server = sdk_server
        self._sessions = sessions
        self._toolset = toolset

    async def __call__(self, exchange: Exchange) -> None:
        session_id = exchange.headers.get(b"mcp-session-id")
        if session_id is None:
            await self._without_session(exchange)
            return
        session = self._sessions.find(session_id, exchange.scope.get(PRINCIPAL), self._toolset)
        if session is None:
            await exchange.refuse(404, _UNKNOWN)
            return
        with self._sessions.used(session):
            await self._in_session(exchange, session)

    async def sweep(self) -> None:
        """Close the sessions that have expired."""
        for session in self._sessions.take_over():
            await session.close()

    async def _without_session(self, exchange: Exchange) -> None:
        if exchange.method not in ("GET", "POST", "DELETE"):
            await exchange.refuse(405, "Method Not Allowed", _METHODS)
        elif exchange.method != "POST":
            await exchange.refuse(400, _NO_SESSION)
        elif accepts(exchange.headers.get(b"accept", b"")) != (True, True):
            await exchange.refuse(406, NOT_ACCEPTABLE)
        elif (message := await exchange.message()) is not None:
            if message.get("method") == "initialize" and "id" in message:
                await self._open(exchange, message)
            else:
                await self._alone(exchange, message)

    async def _alone(self, exchange: Exchange, message: dict[str, Any]) -> None:
        """Answer a message without a session: its header names the protocol version."""
        version = exchange.headers.get(b"mcp-protocol-version")
        if version is None:
            await exchange.refuse(400, _NO_SESSION)
        elif "id" not in message or "method" not in message:
            await exchange.answer(202)
        elif (answer := self._fast_path.answer(message, version.decode())) is None:
            await self._sdk_server.hand(exchange)
        elif isinstance(answer, Call):
            await exchange.answer(200, await self._caller.made_regardless(answer, exchange, {}))
        else:
            await exchange.answer(200, answer)

    async def _open(self, exchange: Exchange, message: dict[str, Any]) -> None:
        if len(exchange.body) > _MAX_HANDSHAKE_BYTES:
            await exchange.refuse(413, f"'initialize' is at most {_MAX_HANDSHAKE_BYTES} bytes")
            return
        if self._sessions.full:
            await self.sweep()
        if self._sessions.full and (spared := self._sessions.spare()) is not None:
            await spared.close()
        plain = self._fast_path.initialize(message)
        version = "" if plain is None else plain[1]
        try:
            principal = exchange.scope.get(PRINCIPAL)
            session = self._sessions.open(version, exchange.body, principal, self._toolset)
        except TooManySessions as refused:
            await exchange.refuse(503, str(refused), code=jsonrpc.INTERNAL_ERROR)
            return
        session.client = _object(message.get("params")).get("clientInfo")
        with self._sessions.used(session):
            answer = await self._open_behind(session) if plain is None else plain[0]
            opened = () if session.version == "" else ((b"mcp-session-id", session.id),)
            await exchange.answer(200, answer, *opened)

    async def _open_behind(self, session: Session) -> bytes:
        """The SDK's answer to an ``initialize`` that is not plain; a refused one leaves no session."""
        try:
            session.sdk_server = await (await self._sdk_server.get()).open_session(session.id)
            answer = await session.sdk_server.post(session.handshake) or {}
            session.version = answer.get("result", {}).get("protocolVersion", "")
        finally:
            if not session.version:
                self._sessions.forget(session)
                await session.close()
        return jsonrpc.encode(answer)

    async def _in_session(self, exchange: Exchange, session: Session) -> None:
        if exchange.method == "DELETE":
            self._sessions.forget(session)
            await session.close()
            await exchange.answer(200)
        elif exchange.method == "GET":
            await self._hand(exchange, session)
        elif exchange.method != "POST":
            await exchange.refuse(405, "Method Not Allowed", _METHODS)
        elif accepts(exchange.headers.get(b"accept", b"")) != (True, True):
            await exchange.refuse(406, NOT_ACCEPTABLE)
        elif (message := await exchange.message()) is not None:
            if "method" not in message or "id" not in message:
                await self._noted(exchange, session, message)
            else:
                await self._answer_request(exchange, session, message)

    async def _noted(self, exchange: Exchange, session: Session, message: dict[str, Any]) -> None:
        """Accept a notification, or an answer to a request of the SDK."""
        if message.get("method") == "notifications/initialized":
            session.initialized = True
        elif message.get("method") == "notifications/cancelled":
            params: dict[str, Any] = message.get("params") or {}
            session.cancel(params.get("requestId"))
        if session.sdk_server is None:
            await exchange.answer(202)
        else:
            await self._hand(exchange, session)

    async def _answer_request(self, exchange: Exchange, session: Session, message: dict[str, Any]) -> None:
        request_id: jsonrpc.RequestId = message["id"]
        session.asked = True
        if session.knows(request_id):
            await exchange.refuse(400, _TAKEN, request_id=request_id)
            return
        if message["method"] == "initialize":
            session.plain = False
        answer = self._fast_path.answer(message, session.version) if session.plain else None
        if answer is None:
            await self._hand_request(exchange, session, request_id)
        elif isinstance(answer, Call):
            running, client = session.running, session.client
            await exchange.answer(200, await self._caller.made_regardless(answer, exchange, running, client))
        else:
            await exchange.answer(200, answer)

    async def _hand_request(
        self, exchange: Exchange, session: Session, request_id: jsonrpc.RequestId
    ) -> None:
        """Send a request to the SDK, which keys its answers by the id's text: two equal ones are refused."""
        if session.sdk_server is not None and session.sdk_server.full:
            await exchange.refuse(503, _FULL, code=jsonrpc.INTERNAL_ERROR, request_id=request_id)
            return
        key = str(request_id)
        while (before := session.handed.get(key)) is not None:
            if not before.answered:
                await exchange.refuse(400, _TAKEN, request_id=request_id)
                return
            await before.done.wait()
        session.handed[key] = handed = PendingRequest(request_id)
        exchange.on_answered = partial(setattr, handed, "answered", True)
        try:
            await self._hand(exchange, session, request_id)
        finally:
            del session.handed[key]
            handed.done.set()

    async def _hand(
        self, exchange: Exchange, session: Session, request_id: jsonrpc.RequestId | None = None
    ) -> None:
        """Let the SDK answer in its part of the session, which is created now if there is none."""
        async with session.opening:
            if session.sdk_server is None:
                made = await (await self._sdk_server.get()).open_session(session.id)
                await made.post(session.handshake)
                if session.initialized:
                    await made.post(_INITIALIZED)
                session.sdk_server = made
        sdk_server = session.sdk_server
        if session.over or sdk_server.over:
            self._sessions.forget(session)
            await session.close()
            await exchange.refuse(404, _UNKNOWN, request_id=request_id)
        elif request_id is None:
            await self._sdk_server.hand(exchange, sdk_server.handle)
        else:
            await self._sdk_server.hand(
                exchange, owing(sdk_server.handle, request_id, lambda: sdk_server.over)
            )


def _object(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
