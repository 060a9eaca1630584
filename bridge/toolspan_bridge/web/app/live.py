"""The session that requests are answered with, and its replacement when the config changes."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import anyio.abc
import anyio.to_thread

from toolspan_server.common.supervision import kept, report_failure
from toolspan_server.config import refusal
from toolspan_server.errors import ConfigError, ServeError

from ...errors import BridgeError, ConsentError
from ...providers.http.settings import HttpSettings
from ...sessions.asker import RoutedAsker
from ...sessions.session import Session, opened
from .changed_files import FileMarks
from .toolbox_changes import tell_changes

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolspan_server.config import Config

    from ...sessions.chosen.config import ConfigChoice
    from .host import WebHost

_log = logging.getLogger(__name__)
LOOK_EVERY_S = 0.5
_TO_PROVIDERS = HttpSettings(connections=1_000, idle_connections=100)
"""As many requests to each provider at once as the gateway answers."""


@dataclass(eq=False, slots=True)
class Served:
    """One session with its asker, the ``number``th since the start; ``uses`` keep it open."""

    number: int
    session: Session
    asker: RoutedAsker
    uses: int = 0
    retired: bool = False
    idle: anyio.Event = field(default_factory=anyio.Event)


class LiveSession:
    """The session of ``choice``, which follows its files. A session that another one replaced stays open as
    long as it is used: what runs ends where it began.

    ``followers`` get each config before it is used, may refuse it by ``ConfigError`` or ``ServeError``, and
    give what is to be done once it is.

    A changed config that cannot be used leaves the one before in place, and ``problems`` say why. ``tell``
    takes ``config_reloaded`` and ``config_failed`` with their data.
    """

    def __init__(
        self, choice: ConfigChoice, host: WebHost, tell: Callable[[str, dict[str, Any]], None]
    ) -> None:
        self.choice = choice
        self.host = host
        self.problems: tuple[str, ...] = ()
        self.followers: list[Callable[[Config], Callable[[], None]]] = []
        self._tell = tell
        self._current: Served | None = None
        self._number = 0

    @property
    def current(self) -> Served:
        """The session of now, which calls for nobody. To wait with it, or to call, take it by ``using``."""
        assert self._current is not None, "the app has not started"
        return self._current

    @asynccontextmanager
    async def using(self, principal: str) -> AsyncGenerator[Served]:
        """The session of now, whose calls are made for ``principal``; it stays open for the block."""
        served = self.current
        served.uses += 1
        try:
            yield replace(served, session=served.session.acting_for(principal))
        finally:
            served.uses -= 1
            if served.retired and not served.uses:
                served.idle.set()

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Open the session, and follow its files, for the block. Raises as ``opened`` does."""
        fault: Exception | None = None
        async with anyio.create_task_group() as group:
            try:
                await group.start(self._keep)
                self.host.started = True
                if self.current.session.config.serving.reload:
                    group.start_soon(kept("the watch over the config", partial(self._follow, group)))
                told = partial(tell_changes, lambda: self.current.session.toolbox, self._tell)
                group.start_soon(kept("news of servers", told))
                yield
            except Exception as error:
                fault = error  # carried past the task group, which would wrap it
            finally:
                group.cancel_scope.cancel()
        if fault is not None:
            raise fault

    async def _keep(self, *, task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Hold one session open until nobody uses it any more; a session is closed by the task that opened
        it."""
        started = False
        try:
            async with self._opened() as served:
                started = True
                task_status.started()
                await served.idle.wait()
        except Exception as error:
            if not started:
                raise
            report_failure("a session of the app", error, "was closed")

    @asynccontextmanager
    async def _opened(self) -> AsyncGenerator[Served]:
        """A new session, which is the one of now once it is there."""
        async with (
            opened(self.choice, self.host, samples=True) as session,
            RoutedAsker(session, settings=_TO_PROVIDERS) as asker,
        ):
            self._check_trust(session)
            apply = [follower(session.config) for follower in self.followers]
            self._number += 1
            served, before = Served(self._number, session, asker), self._current
            self._current = served
            for each in apply:
                each()
            if before is not None:
                before.retired = True
                if not before.uses:
                    before.idle.set()
            yield served

    def _check_trust(self, session: Session) -> None:
        """Raise ``ConsentError`` for a config that nobody trusts in the place of one that was trusted."""
        before = self._current
        if session.config.withheld and before is not None and not before.session.config.is_restricted:
            raise ConsentError(refusal(session.config.withheld))

    async def _follow(self, group: anyio.abc.TaskGroup) -> None:
        marks = FileMarks(self.current.session.config.files)
        while True:
            await anyio.sleep(LOOK_EVERY_S)
            if await anyio.to_thread.run_sync(marks.changed):
                await marks.settled()
                await self.reload(group)
                marks.watch(self.current.session.config.files)

    async def reload(self, group: anyio.abc.TaskGroup) -> None:
        """Open the session of the files as they are now; where that fails, keep the one that is there."""
        try:
            await group.start(self._keep)
        except ConfigError as error:
            self._refuse([str(each) for each in error.problems])
        except (BridgeError, ServeError) as error:
            self._refuse([str(error)])
        except Exception as error:
            _log.exception("the changed config could not be used")
            self._refuse([f"{type(error).__name__}: {error}"])
        else:
            self.problems = ()
            self._tell("config_reloaded", {"number": self._number})

    def _refuse(self, problems: list[str]) -> None:
        self.problems = tuple(problems)
        self._tell("config_failed", {"problems": problems})
        self.host.note("the changed config is not used, the one before goes on: " + "; ".join(problems))
