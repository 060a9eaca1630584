"""MCP over standard input and output.

Every request gets an answer, whatever its line contains; at the end of the input, running calls still answer.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from typing_extensions import override

from ...common.lines import Lines
from ...common.sdk_import import importing_sdk
from ...live.views import ServerView
from ...shutdown import GRACE_S, LIMIT_S, Stop
from ..state.running_calls import Calls
from ..state.waiting_calls import WaitingCalls
from .first_requests import FirstRequests
from .pipes import Pipes
from .session import StdioSession

if TYPE_CHECKING:
    from mcp.server.lowlevel.server import Server

T = TypeVar("T")
_CHECK_S = 0.5
_STALLED_CHECKS = 6
_MAX_BACKLOG = 1 << 20
_LAST_BYTES_S = 0.3


async def serve(
    view: ServerView,
    pipes: Pipes,
    stop: Stop,
    opening: FirstRequests | None = None,
    *,
    plain: bool = True,
    names_principals: bool = False,
) -> None:
    """Serve ``view`` to the one client of ``pipes`` until it disconnects or ``stop`` is set.

    ``opening`` is the input read before. Without ``plain`` every request goes to the SDK. With
    ``names_principals`` each request names whom it is made for.
    """
    opening = opening or FirstRequests(Lines(view.config.limits.message_bytes))
    await _Serving(view, pipes, stop, opening, plain=plain, names_principals=names_principals).run()


class _Serving:
    def __init__(
        self,
        view: ServerView,
        pipes: Pipes,
        stop: Stop,
        opening: FirstRequests,
        *,
        plain: bool,
        names_principals: bool,
    ) -> None:
        limits = view.config.limits
        calls = _Calls(limits.concurrent_calls, pipes, WaitingCalls(limits.asking_calls))
        view.runtime.use_call_slot(calls)

        def build() -> Server[Any]:
            with importing_sdk():
                from ..sdk.server import build_server

            return build_server(view, calls)

        self._session = StdioSession(
            view,
            calls,
            build,
            pipes.write,
            self._proceed,
            plain=plain,
            era=opening.era,
            names_principals=names_principals,
        )
        self._pipes = pipes
        self._stop = stop
        self._opening = opening
        self._lines = opening.lines
        self._unread = opening.unread
        self._most_waiting = limits.concurrent_calls + limits.queued_calls
        self._most_bytes = 4 * limits.message_bytes
        self._view = view
        self._ended = False
        self._proceeding = False
        self._over = asyncio.Event()

    async def run(self) -> None:
        self._stop.attach()
        self._pipes.open(self._received, self._proceed)
        if self._opening.ended:
            self._pipes.pause()
            self._received(b"")
        else:
            self._proceed()
        watching = asyncio.create_task(self._watch())
        try:
            await _first(self._stop.wait(), self._over.wait())
            self._pipes.pause()
            self._ended = True
            self._unread.clear()
            self._proceed()
            if not self._over.is_set():
                await self._finish()
        finally:
            watching.cancel()
            self._stop.end_within(LIMIT_S - GRACE_S)
            await self._session.close()
            self._pipes.close()

    async def _finish(self) -> None:
        """Let running calls answer, within the grace period of a stop; then answer for them."""
        if not self._pipes.closed:
            await _within(GRACE_S, self._over.wait())
        self._session.abandon("The server is stopping")
        self._proceed()
        await _within(_LAST_BYTES_S, self._over.wait())

    def _received(self, chunk: bytes) -> None:
        if chunk:
            self._unread.extend(self._lines.feed(chunk))
        else:
            self._unread.append(self._lines.end())
            self._ended = True
        self._proceed()

    def _proceed(self) -> None:
        """Process as much input as the limits allow; record its end."""
        if self._proceeding:
            return
        self._proceeding = True
        try:
            while self._unread and not self._full():
                self._session.receive(self._unread.popleft())
        finally:
            self._proceeding = False
        if self._pipes.backlog < _MAX_BACKLOG:
            self._session.announce()
        if self._session.waiting:
            self._pipes.flush_soon()
        else:
            self._pipes.flush()
        if self._ended:
            if not (self._unread or self._session.waiting or self._pipes.backlog):
                self._over.set()
        elif self._unread:
            self._pipes.pause()
        else:
            self._pipes.resume()

    def _full(self) -> bool:
        session = self._session
        return (
            session.waiting >= self._most_waiting
            or session.waiting_bytes >= self._most_bytes
            or self._pipes.backlog >= _MAX_BACKLOG
        ) and not self._pipes.closed

    async def _watch(self) -> None:
        """End when the client is gone. No event signals that a pipe's reader has closed it or stopped
        reading.
        """
        taken, stalled = 0, 0
        while True:
            await asyncio.sleep(_CHECK_S)
            leaving = self._ended or self._pipes.input_over()
            stalled = stalled + 1 if leaving and self._pipes.backlog and self._pipes.taken == taken else 0
            taken = self._pipes.taken
            if self._pipes.hung_up() or stalled >= _STALLED_CHECKS:
                self._pipes.closed = True
                self._stop.request()
            elif self._ended:
                longest_ms = max((tool.timeout_ms for tool in self._view.tools), default=0)
                self._stop.end_unless_alive(longest_ms / 1000 + LIMIT_S)


class _Calls(Calls):
    """Runs calls while the client reads results. The queue is not limited here: reading stops instead."""

    refuses = False

    def __init__(self, at_once: int, pipes: Pipes, asking: WaitingCalls) -> None:
        super().__init__(at_once, sys.maxsize, asking)
        self._pipes = pipes

    @override
    async def run(self, work: Callable[[], Awaitable[T]], timeout_ms: int | None = None) -> T:
        at_once = self.has_room and self._pipes.backlog < _MAX_BACKLOG
        return await super().run(work if at_once else partial(self._with_room, work), timeout_ms)

    @override
    async def ready(self) -> None:
        if self._pipes.backlog >= _MAX_BACKLOG:
            await self._pipes.room()

    async def _with_room(self, work: Callable[[], Awaitable[T]]) -> T:
        if self._pipes.backlog >= _MAX_BACKLOG:
            await self._pipes.room()
        return await work()


async def _first(*awaited: Awaitable[object]) -> None:
    """Return when one of ``awaited`` is done; the others are cancelled."""
    tasks = [asyncio.ensure_future(each) for each in awaited]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()


async def _within(seconds: float, awaited: Awaitable[object]) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await awaited
