"""What the app holds: the live session, what follows events, what parts provide."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from .events import EventFeed
from .host import WebHost
from .kept_answers import KeptAnswers
from .live import LiveSession, Served
from .rate_limits import OpenStreams, RateLimits

if TYPE_CHECKING:
    from toolspan_server.config import Config

    from ...sessions.chosen.config import ConfigChoice
    from ...sessions.host import Host

T = TypeVar("T")


class App:
    """The state of one running app, given to every endpoint and part.

    ``live`` has the session; ``events`` is the feed of what changes, which ``/api/events`` streams.
    """

    def __init__(self, choice: ConfigChoice, operator: Host) -> None:
        self.choice = choice
        self.events = EventFeed()
        self.host = WebHost(operator, lambda text: self.events.tell("note", {"text": text}))
        self.live = LiveSession(choice, self.host, self.events.tell)
        self.rates = RateLimits()
        self.streams = OpenStreams()
        self.answers = KeptAnswers(lambda: self.config)
        self._provided: dict[type, Any] = {}

    @property
    def config(self) -> Config:
        """The config of now."""
        return self.live.current.session.config

    def using(self, principal: str) -> AbstractAsyncContextManager[Served]:
        """The session and the asker of now, whose calls are made for ``principal``; they stay open for the
        block even when the config changes."""
        return self.live.using(principal)

    def provide(self, what: object) -> None:
        """Make ``what`` known to others by its class: a part's lifespan calls it."""
        self._provided[type(what)] = what

    def of(self, kind: type[T]) -> T:
        """What was provided of the class ``kind``. Raises ``LookupError``."""
        try:
            found: T = self._provided[kind]
        except KeyError:
            raise LookupError(f"no part of the app provides a {kind.__name__}") from None
        return found

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Open the session for the block. Raises as ``opened`` does."""
        async with self.live.running():
            try:
                yield
            finally:
                self.answers.close()
