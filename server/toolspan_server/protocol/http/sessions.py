"""The sessions of the 2025 era: a table, limited in size and in age.

MCP 2025-11-25, basic/transports, session management: ids are unguessable; an unknown or expired session
is answered with 404, and the client then starts a new one.
"""

from __future__ import annotations

import secrets
import time
from asyncio import Event, Lock
from collections import Counter, OrderedDict
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...common.running import Running
from ..messages.jsonrpc import RequestId
from .call_endings import End

if TYPE_CHECKING:
    from .sdk.transport import SdkSession


LEAST_IDLE_S = 60.0
"""How many seconds an idle session is kept even if another one needs its place."""


class TooManySessions(Exception):
    """No further session may be opened. The message names the limit."""


@dataclass(slots=True, eq=False)
class PendingRequest:
    """A request that the SDK processes. It is ``answered`` a little before the SDK is ``done`` with it."""

    request_id: RequestId
    answered: bool = False
    done: Event = field(default_factory=Event)


@dataclass(slots=True, eq=False)
class Session:
    """One client's session.

    ``handshake`` is the body of its ``initialize``, ``client`` the ``clientInfo`` in it. ``running`` are the
    calls on the fast path, ``handed`` the requests that the SDK processes, by the text of the id, all that
    the SDK distinguishes. ``plain`` is false once the session's state is only in the SDK. ``asked`` is true
    once it has sent a request after its handshake, ``over`` once it was closed.
    """

    id: bytes
    version: str
    handshake: bytes
    principal: bytes | None
    last_used: float
    toolset: str | None = None
    client: Any = None
    initialized: bool = False
    asked: bool = False
    plain: bool = True
    over: bool = False
    open_requests: int = 0
    running: dict[RequestId, Running[bytes]] = field(default_factory=dict[RequestId, Running[bytes]])
    handed: dict[str, PendingRequest] = field(default_factory=dict[str, PendingRequest])
    sdk_server: SdkSession | None = None
    opening: Lock = field(default_factory=Lock)

    def knows(self, request_id: RequestId) -> bool:
        """Whether a request with this id is open. ``5`` is not ``"5"``."""
        handed = self.handed.get(str(request_id))
        return request_id in self.running or (
            handed is not None and not handed.answered and handed.request_id == request_id
        )

    def cancel(self, request_id: object) -> None:
        """Cancel the call with this id, if it runs on the fast path."""
        if isinstance(request_id, int | str) and (running := self.running.get(request_id)) is not None:
            running.stop(End.CANCELLED)

    async def close(self) -> None:
        """End everything that is open in a session that was removed from the table."""
        self.over = True
        for running in self.running.values():
            running.stop(End.SESSION_ENDED)
        if self.sdk_server is not None:
            await self.sdk_server.close()


class Sessions:
    """At most ``most`` sessions, each until ``idle_s`` after its last use; ``refused`` counts the others."""

    def __init__(self, most: int, idle_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._idle_s = idle_s
        self._clock = clock
        self._by_id: OrderedDict[bytes, Session] = OrderedDict()
        self.refused = 0

    def __len__(self) -> int:
        return len(self._by_id)

    @property
    def full(self) -> bool:
        """Whether the table is full."""
        return len(self._by_id) >= self._most

    def open(
        self, version: str, handshake: bytes, principal: bytes | None, toolset: str | None = None
    ) -> Session:
        """A new session at the endpoint of ``toolset`` or of the whole server. Raises ``TooManySessions``."""
        if self.full:
            self.refused += 1
            raise TooManySessions(
                f"Too many open sessions: limits.sessions is {self._most:,}; try again later"
            )
        session_id = secrets.token_urlsafe(24).encode()
        session = Session(session_id, version, handshake, principal, self._clock(), toolset)
        self._by_id[session_id] = session
        return session

    def spare(self) -> Session | None:
        """When the table is full, remove and return the session that makes room for another; else ``None``.

        First those without a request since their handshake, the oldest first: they cost a client next to
        nothing. Then, of the principal with most sessions, the one that is unused for the longest time, if
        that is more than a minute. A session with an open request stays.
        """
        free = [session for session in self._by_id.values() if not session.open_requests]
        found = next((session for session in free if not session.asked), None)
        if found is None:
            late = self._clock() - LEAST_IDLE_S
            count_of = Counter(session.principal for session in self._by_id.values())
            idle = (session for session in free if session.last_used <= late)
            found = max(idle, key=lambda session: count_of[session.principal], default=None)
        if found is not None:
            self.forget(found)
        return found

    def find(self, session_id: bytes, principal: bytes | None, toolset: str | None = None) -> Session | None:
        """The session, unless it is unknown, over, another principal's or another endpoint's."""
        session = self._by_id.get(session_id)
        if session is None or (session.principal, session.toolset) != (principal, toolset):
            return None
        return None if self._is_over(session) else session

    @contextmanager
    def used(self, session: Session) -> Generator[None]:
        """Mark ``session`` as used while a request of it is open."""
        session.open_requests += 1
        try:
            yield
        finally:
            session.open_requests -= 1
            session.last_used = self._clock()
            if session.id in self._by_id:
                self._by_id.move_to_end(session.id)

    def forget(self, session: Session) -> None:
        """Remove ``session`` from the table; its id is unknown from now on."""
        self._by_id.pop(session.id, None)

    def take_over(self) -> list[Session]:
        """Remove and return the expired sessions, which the caller closes."""
        over: list[Session] = []
        for session in self._by_id.values():
            if self._is_over(session):
                over.append(session)
            elif not session.open_requests:
                break
        for session in over:
            self.forget(session)
        return over

    def _is_over(self, session: Session) -> bool:
        return not session.open_requests and self._clock() - session.last_used > self._idle_s
