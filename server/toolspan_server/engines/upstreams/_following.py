"""Resources of a server that somebody wants to hear of, asked for in every session with it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import anyio
from anyio.abc import TaskStatus

from ._results import PeerError
from ._upstream_session import UpstreamSession

MOST_FOLLOWED = 50
"""The most resources of one server that are followed."""


class Following:
    """The resources, by URI. ``keep`` is the task that asks the server of a session to tell of them."""

    def __init__(self) -> None:
        self._settled: dict[str, anyio.Event] = {}
        self._told_of: frozenset[str] = frozenset()
        self._more = anyio.Event()

    async def add(self, uri: str) -> bool:
        """Follow ``uri``; whether the server tells of it, which is known once it was asked."""
        if uri not in self._settled:
            if len(self._settled) == MOST_FOLLOWED:
                return False
            self._settled[uri] = anyio.Event()
            self._more.set()
        await self._settled[uri].wait()
        return uri in self._told_of

    async def keep(self, transport: UpstreamSession, session: Any, channel: Any) -> None:
        """Have the server tell of them, until cancelled. Of more of them it is told before it forgets those
        of before, so that no change is missed."""
        self._told_of = frozenset()
        async with anyio.create_task_group() as tasks:
            before: anyio.CancelScope | None = None
            while True:
                self._more = more = anyio.Event()
                if self._settled:
                    now = await tasks.start(self._hear, transport, session, channel)
                    if before is not None:
                        before.cancel()
                    before = now
                await more.wait()

    async def _hear(
        self,
        transport: UpstreamSession,
        session: Any,
        channel: Any,
        *,
        task_status: TaskStatus[anyio.CancelScope],
    ) -> None:
        uris = tuple(self._settled)
        begun = False
        with anyio.CancelScope() as scope:

            def told_of(honored: Iterable[str]) -> None:
                nonlocal begun
                self._told_of = frozenset(honored)
                for uri in uris:
                    self._settled[uri].set()
                if not begun:
                    begun = True
                    task_status.started(scope)

            try:
                await transport.hear_of_resources(session, channel, uris, self._told_of, told_of)
            except (PeerError, ValueError, TimeoutError):
                told_of(())  # it tells of none, or not any longer
