"""Servers that join a chat while it goes on."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

import anyio
from anyio.abc import TaskGroup, TaskStatus

from toolspan_server.engines.upstreams import ServerSpec

from ...errors import AuthError, UnreachableError
from ...oauth import SignInWay
from ...sessions.chosen.target import CONNECT_SECONDS
from ...sessions.locking import listed_definitions
from ...sessions.session import Session
from ...toolbox import Toolbox
from ..terminal.sign_in import person_here
from ..terminal.waiting.of_servers import servers_starting

__all__ = ["ServerHost", "server_host"]


@dataclass(frozen=True, slots=True)
class ServerHost:
    """Keeps servers connected in ``tasks``, until ``close``."""

    tasks: TaskGroup
    _closing: anyio.Event = field(default_factory=anyio.Event)

    async def joined(self, session: Session, spec: ServerSpec) -> Session:
        """``session`` with the server ``spec`` beside its others. Raises ``AuthError`` and
        ``UnreachableError``."""
        added: Toolbox = await self.tasks.start(self._keep, session, spec)
        definitions = listed_definitions(added)
        return replace(
            session,
            toolbox=session.toolbox.joined(added),
            baseline=session.baseline.with_own(definitions),
        )

    def close(self) -> None:
        """End the servers."""
        self._closing.set()

    async def _keep(self, session: Session, spec: ServerSpec, *, task_status: TaskStatus[Toolbox]) -> None:
        patience = spec.connect_timeout or CONNECT_SECONDS
        with servers_starting([spec.name]) as ready:
            connecting = Toolbox.connect(
                [spec],
                principal=session.toolbox.principal,
                connect_timeout=patience,
                client=session.client.features,
                sign_in=SignInWay(person_here()),
                on_ready=ready,
            )
            async with connecting as added:
                for failure in added.failures:
                    raise (AuthError if failure.needs_sign_in else UnreachableError)(str(failure))
                task_status.started(added)
                await self._closing.wait()


@asynccontextmanager
async def server_host() -> AsyncGenerator[ServerHost]:
    """What keeps servers connected until the block ends."""
    fault: Exception | None = None
    async with anyio.create_task_group() as tasks:
        host = ServerHost(tasks)
        try:
            yield host
        except Exception as error:
            # carried past the task group, which would wrap it in an ExceptionGroup
            fault = error
        finally:
            host.close()
    if fault is not None:
        raise fault
