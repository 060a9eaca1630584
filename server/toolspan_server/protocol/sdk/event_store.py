"""The events of one session, kept for a client that comes back. Importing this module imports ``mcp``.

MCP 2025-11-25, basic/transports, resumability and redelivery.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from mcp.server.streamable_http import EventCallback, EventMessage, EventStore
from mcp_types import JSONRPCError, JSONRPCMessage, JSONRPCResponse
from typing_extensions import override

from ..state.retention import KeptEvents

MOST_EVENTS = 1_000
MOST_BYTES = 4_194_304
MOST_AGE_S = 600.0


@dataclass(frozen=True, slots=True)
class _Event:
    stream: str
    message: JSONRPCMessage | None
    size: int
    at: float


class Events(EventStore):
    """The last events of every stream of a session: so many, of so many bytes, for so long.

    The last one is kept whatever its size, unless ``kept``, the events of all sessions, are too many.
    ``None`` as a message only marks a place in the stream.
    """

    def __init__(self, kept: KeptEvents | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._kept = kept or KeptEvents()
        self._clock = clock
        self._events: OrderedDict[str, _Event] = OrderedDict()
        self._count = 0
        self._bytes = 0

    @override
    async def store_event(self, stream_id: str, message: JSONRPCMessage | None) -> str:
        """Keep ``message``; gives the event's id, which counts within the session."""
        size = 0 if message is None else len(message.model_dump_json(by_alias=True))
        self._count += 1
        self._bytes += size
        event_id = str(self._count)
        self._events[event_id] = _Event(stream_id, message, size, self._clock())
        self._forget_old()
        self._kept.add(self, event_id, size)
        return event_id

    @override
    async def replay_events_after(self, last_event_id: str, send_callback: EventCallback) -> str | None:
        """Send what came after that event on its stream; gives the stream, if more may come on it.

        What comes meanwhile is sent too: when this ends, nothing is left that the stream does not have.
        """
        last = self._events.get(last_event_id)
        if last is None:
            return None
        sent, ended = int(last_event_id), _is_answer(last)
        while (following := self._following(last.stream, sent)) is not None:
            sent, event = following
            assert event.message is not None
            await send_callback(EventMessage(event.message, str(sent)))
            ended = ended or _is_answer(event)
        return None if ended else last.stream

    def forget(self, event_id: str) -> None:
        """Keep that event no longer."""
        self._bytes -= self._events.pop(event_id).size

    def close(self) -> None:
        """Keep none."""
        for event_id in self._events:
            self._kept.remove(self, event_id)
        self._events.clear()
        self._bytes = 0

    def _following(self, stream: str, after: int) -> tuple[int, _Event] | None:
        for event_id, event in self._events.items():
            if int(event_id) > after and event.stream == stream and event.message is not None:
                return int(event_id), event
        return None

    def _forget_old(self) -> None:
        oldest_kept = self._clock() - MOST_AGE_S
        while len(self._events) > 1:
            first = next(iter(self._events.values()))
            if len(self._events) <= MOST_EVENTS and self._bytes <= MOST_BYTES and first.at >= oldest_kept:
                return
            event_id, _ = self._events.popitem(last=False)
            self._kept.remove(self, event_id)
            self._bytes -= first.size


def _is_answer(event: _Event) -> bool:
    return isinstance(event.message, JSONRPCResponse | JSONRPCError)
