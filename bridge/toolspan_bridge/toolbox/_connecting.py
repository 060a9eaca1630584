"""What happens while a toolbox connects its servers, and as long as they are connected."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

import anyio
from anyio.abc import TaskGroup

from toolspan_server.common.supervision import run_contained

from ..client import ClientFeatures
from .connection import ToolConnection


async def all_ready(connections: Iterable[ToolConnection], on_ready: Callable[[str], None] | None) -> None:
    """Wait until each of ``connections`` has answered or failed; ``on_ready`` is told the name of each."""
    if on_ready is None:
        for connection in connections:
            await connection.ready.wait()
        return
    told = on_ready

    async def ready(connection: ToolConnection) -> None:
        await connection.ready.wait()
        told(connection.spec.name)

    async with anyio.create_task_group() as tasks:
        for connection in connections:
            tasks.start_soon(ready, connection)


def telling_of_roots(
    features: ClientFeatures, connections: Iterable[ToolConnection], tasks: TaskGroup
) -> Callable[[], None]:
    """Tell the servers when the roots change, until what this gives is called."""
    if features.roots is None:
        return lambda: None

    def tell() -> None:
        for connection in connections:
            told = partial(connection.notify, "notifications/roots/list_changed")
            tasks.start_soon(run_contained, "news of roots", told)

    return features.roots.watch(tell)
