"""The two ways of one session with the SDK's server, bounded. Importing this imports ``mcp``."""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Awaitable, Callable, Generator
from typing import Any

from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp_types import JSONRPCError, JSONRPCRequest, JSONRPCResponse
from starlette.requests import Request
from typing_extensions import override

from ...http_server.body_budget import weight
from ...http_server.unread_bytes import UnreadBytes

MOST_BYTES = 16 * 1024 * 1024
MOST_MESSAGES = 1_000
MOST_ASKED = 256


class Channel:
    """What a session holds for its client: requests without an answer, and messages that are not read.

    ``end`` is called, with the reason, when that is more than a session may hold, or the most of all when
    all hold too much.
    """

    def __init__(self, incoming: Any, outgoing: Any, unread: UnreadBytes, end: Callable[[str], None]) -> None:
        self.incoming = _Incoming(incoming, self)
        self.outgoing = _Outgoing(outgoing, self)
        self.held = 0
        self._unread = unread
        self._end = end
        self._messages = self._asked = self._arriving = 0
        self._sizes: dict[str | int, list[int]] = {}

    @property
    def full(self) -> bool:
        """Whether so much is asked and not answered that no more may be."""
        return self._asked + self._arriving >= MOST_ASKED or self.held >= MOST_BYTES

    @contextlib.contextmanager
    def arriving(self, size: int) -> Generator[None]:
        """Count a message of ``size`` bytes that was accepted, until the session takes it."""
        self._arriving += 1
        self._grew(size)
        try:
            yield
        finally:
            self._arriving -= 1
            self.held -= size

    def let_go(self, why: str) -> None:
        """End the session."""
        self._end(why)

    def close(self) -> None:
        """Nothing is held any more."""
        self._unread.gone(self)

    def message_queued(self, size: int) -> None:
        """A message of ``size`` bytes waits to be read."""
        self._messages += 1
        self._grew(size)
        if self._messages > 1 and (self.held > MOST_BYTES or self._messages > MOST_MESSAGES):
            self._end(f"its client left more than {MOST_BYTES:,} bytes or {MOST_MESSAGES:,} messages unread")

    def read(self, size: int) -> None:
        """A message of ``size`` bytes was taken."""
        self._messages -= 1
        self.held -= size

    def request_received(self, request_id: str | int, size: int) -> None:
        """A request of ``size`` bytes came."""
        self._asked += 1
        self._sizes.setdefault(request_id, []).append(size)
        self._grew(size)

    def settled(self, request_id: str | int | None) -> None:
        """The request has its answer, or needs none; of several with one id, the smallest."""
        sizes = None if request_id is None else self._sizes.get(request_id)
        if request_id is None or not sizes:
            return
        size = min(sizes)
        sizes.remove(size)
        if not sizes:
            del self._sizes[request_id]
        self._asked -= 1
        self.held -= size

    def _grew(self, size: int) -> None:
        self.held += size
        self._unread.grew(self)


class _Incoming(ObjectReceiveStream[SessionMessage | Exception]):
    """The messages of the client. Of a request, the body is let go of: it is parsed by now."""

    def __init__(self, stream: Any, channel: Channel) -> None:
        self._stream = stream
        self._channel = channel

    @property
    def last_context(self) -> contextvars.Context | None:
        context: contextvars.Context | None = self._stream.last_context
        return context

    @override
    async def receive(self) -> SessionMessage | Exception:
        item: SessionMessage | Exception = await self._stream.receive()
        if isinstance(item, SessionMessage) and isinstance(item.metadata, ServerMessageMetadata):
            await self._note(item, item.metadata)
        return item

    async def _note(self, item: SessionMessage, metadata: ServerMessageMetadata) -> None:
        request: Any = metadata.request_context
        if not isinstance(request, Request):
            return
        body = await request.body()
        metadata.request_context = Request(request.scope)
        if isinstance(item.message, JSONRPCRequest):
            self._channel.request_received(item.message.id, weight(body, 0))
            metadata.on_request_unanswered = self._unanswered(item.message.id, metadata.on_request_unanswered)

    def _unanswered(
        self, request_id: str | int, others: Callable[[], Awaitable[None]] | None
    ) -> Callable[[], Awaitable[None]]:
        async def unanswered() -> None:
            self._channel.settled(request_id)
            if others is not None:
                await others()

        return unanswered

    def close(self) -> None:
        self._stream.close()

    @override
    async def aclose(self) -> None:
        await self._stream.aclose()


class _Outgoing(ObjectSendStream[SessionMessage]):
    """The messages to the client, which wait here until the transport takes them."""

    def __init__(self, stream: Any, channel: Channel) -> None:
        self._stream = stream
        self._channel = channel

    @override
    async def send(self, item: SessionMessage) -> None:
        message = item.message
        size = len(message.model_dump_json(by_alias=True, exclude_unset=True))
        if isinstance(message, JSONRPCResponse | JSONRPCError):
            self._channel.settled(message.id)
        self._channel.message_queued(size)
        try:
            await self._stream.send(item)
        finally:
            self._channel.read(size)

    def close(self) -> None:
        self._stream.close()

    @override
    async def aclose(self) -> None:
        await self._stream.aclose()
