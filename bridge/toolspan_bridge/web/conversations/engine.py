"""All conversations of the app: those of each principal, and what answers in them in the background."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial

import anyio
from anyio.abc import TaskGroup

from toolspan_server.common.supervision import run_contained

from ..activity import Activity
from ..problems import Problem
from .in_use import Using
from .limits import ConversationLimits
from .live import LiveConversation
from .own import OwnConversations
from .shelf import MemoryShelf

_END_SECONDS = 5.0


class Conversations:
    """Runs within ``running``; ``using`` gives the session of now, ``activity`` records each question. At its
    end every question is cancelled, and what the person was asked is denied."""

    def __init__(
        self, using: Using, limits: ConversationLimits | None = None, activity: Activity | None = None
    ) -> None:
        self.limits = limits or ConversationLimits()
        self.activity = activity or Activity(None)
        self._using = using
        self._owned: dict[str, OwnConversations] = {}
        self._memory: dict[str, MemoryShelf] = {}
        self._tasks: TaskGroup | None = None
        self._running = 0

    def of(self, principal: str) -> OwnConversations:
        """The conversations of ``principal``."""
        if principal not in self._owned:
            self._owned[principal] = OwnConversations(principal, self._using, self, self._memory)
        return self._owned[principal]

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Questions may be answered in the block."""
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            try:
                yield
            finally:
                self._tasks = None
                await self._end()
                tasks.cancel_scope.cancel()

    def start(self, live: LiveConversation, answer: Callable[[], Awaitable[None]]) -> None:
        """Answer in the background. Raises ``Problem`` where too much is going on, or the server ends."""
        if self._tasks is None or self._running >= self.limits.running:
            live.run = None
            if self._tasks is None:
                raise Problem(503, "the server is ending")
            raise Problem(
                503, f"{self._running} questions are being answered already: try again soon", "busy"
            )
        self._running += 1
        self._tasks.start_soon(run_contained, "a conversation's answer", partial(self._counted, answer))

    async def _counted(self, answer: Callable[[], Awaitable[None]]) -> None:
        try:
            await answer()
        finally:
            self._running -= 1

    async def _end(self) -> None:
        """Cancel every question, let its end be told, and end the streams."""
        lives = [live for owned in self._owned.values() for live in owned.live]
        runs = [live.run for live in lives if live.run is not None]
        for run in runs:
            run.stop()
        with anyio.move_on_after(_END_SECONDS, shield=True):
            for run in runs:
                await run.over.wait()
        for live in lives:
            live.events.close()
