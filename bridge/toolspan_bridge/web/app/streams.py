"""Server-sent events."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Protocol, cast

from ..problems import Problem, encoded

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from sse_starlette import EventSourceResponse
    from starlette.requests import Request

PING_S = 15
_MOST_DIGITS = 18


class StreamEvent(Protocol):
    """What an event of a stream has: its ``id`` is what a client comes back with."""

    @property
    def id(self) -> int | str | None: ...

    @property
    def name(self) -> str: ...

    @property
    def data(self) -> Any: ...


def last_event_id(request: Request) -> int | None:
    """The number after which a client wants the events: ``Last-Event-ID``, else ``?last_event_id=``, which a
    page that opens its first stream may give. Raises ``Problem`` for what is no number."""
    given = request.headers.get("last-event-id") or request.query_params.get("last_event_id")
    if not given:
        return None
    if not (given.isascii() and given.isdigit() and len(given) <= _MOST_DIGITS):
        raise Problem(400, "Last-Event-ID must be the id of an event, a number")
    return int(given)


def event_stream(events: AsyncIterable[StreamEvent], *, ping: float = PING_S) -> EventSourceResponse:
    """The answer that sends ``events`` as they come: ``id``, ``event``, and ``data`` as JSON.

    A comment keeps the connection alive when nothing comes for ``ping`` seconds. When the client leaves, or
    the server ends, the generator of ``events`` is closed, so that it may clean up in ``finally``.
    """
    from sse_starlette import EventSourceResponse

    return EventSourceResponse(_written(events), ping=ping, sep="\n", headers={"Cache-Control": "no-store"})


async def _written(events: AsyncIterable[StreamEvent]) -> AsyncIterator[bytes]:
    iterator = events.__aiter__()
    if not hasattr(iterator, "aclose"):
        async for event in events:
            yield _bytes(event)
        return
    async with aclosing(cast("AsyncGenerator[StreamEvent]", iterator)) as closing:
        async for event in closing:
            yield _bytes(event)


def _bytes(event: StreamEvent) -> bytes:
    """JSON has no line breaks as we write it, so that one line of ``data`` is enough."""
    start = b"" if event.id is None else b"id: %s\n" % str(event.id).encode()
    return b"%sevent: %s\ndata: %s\n\n" % (start, event.name.encode(), encoded(event.data))
