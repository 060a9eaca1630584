"""The state that all HTTP connections of a server share."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

import uvicorn

from ...common.eager_tasks import EagerTasks
from ..asgi import App, Header, RefusedResponse, RenderOf
from ..body_budget import BodyBudget
from ..unread_bytes import UnreadBytes
from .admission import Admission
from .request_checks import HeadChecks, Refusals
from .request_cycle import persistence

if TYPE_CHECKING:
    from ...config import LimitsConfig

_MOST_LOGGED = 10


class Settings(uvicorn.Config):
    """uvicorn's settings, and those of our connections."""

    def __init__(
        self, app: App, limits: LimitsConfig, connection: type[asyncio.Protocol], unread: UnreadBytes
    ) -> None:
        super().__init__(
            app,
            http=connection,
            ws="none",
            interface="asgi3",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            headers=persistence(limits.idle_seconds),
        )
        self.limits = limits
        self.unread = unread
        self.admission = Admission(limits)
        self.refusals = Refusals(limits)
        self.checks = HeadChecks(limits, self.refusals)
        self.bodies = BodyBudget(limits, self.refusals.too_many_bodies)
        self.parting: set[asyncio.Protocol] = set()
        self.render_of: RenderOf | None = None
        self.on_refused: Callable[[RefusedResponse], None] = _ignored
        self._logger = logging.getLogger("uvicorn.error")
        self._logged, self._logged_since = 0, 0.0
        self._eager: EagerTasks | None = None
        self._started: tuple[list[Header] | None, bytes] = (None, b"")

    def eager_tasks(self) -> EagerTasks:
        """The task factory that starts answers eagerly, once the loop runs."""
        if self._eager is None:
            self._eager = EagerTasks()
        return self._eager

    def start(self, default_headers: list[Header]) -> bytes:
        """The bytes that a whole answer starts with, up to its length. Uvicorn renews the headers once a
        second.
        """
        if self._started[0] is not default_headers:
            lines = b"".join([name + b": " + value + b"\r\n" for name, value in default_headers])
            start = b"HTTP/1.1 200 OK\r\n%scontent-type: application/json\r\ncontent-length: " % lines
            self._started = default_headers, start
        return self._started[1]

    def log(self, now: float, text: str) -> None:
        """Log a problem with a client, at most ten a second."""
        if now - self._logged_since >= 1:
            self._logged, self._logged_since = 0, now
        self._logged += 1
        if self._logged < _MOST_LOGGED:
            self._logger.warning(text)
        elif self._logged == _MOST_LOGGED:
            self._logger.warning("%s; what follows within this second is not logged", text)


def _ignored(_refused: RefusedResponse) -> None:
    """Ignore refused requests: the default of ``on_refused``."""
