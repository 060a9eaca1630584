"""Runs services for as long as the server runs."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from ..parts.service import Service

if TYPE_CHECKING:
    import anyio

Start = Callable[[Callable[[], Awaitable[None]]], Callable[[], None]]
"""Runs something in the background; returns a function that ends it."""


@asynccontextmanager
async def running_services(services: Mapping[str, Service]) -> AsyncGenerator[Start]:
    """Run every service beside the body, which does not wait for them to be ready, and whatever it starts.

    An error of the body comes out as it is; one of a service ends the body and comes out in a group.
    """
    import anyio

    failure: Exception | None = None
    async with anyio.create_task_group() as group:

        def start(run: Callable[[], Awaitable[None]]) -> Callable[[], None]:
            scope = anyio.CancelScope()
            group.start_soon(_in, scope, run)
            return scope.cancel

        for service in services.values():
            start(service.run)
        try:
            yield start
        except Exception as error:
            failure = error
        finally:
            group.cancel_scope.cancel()
    if failure is not None:
        raise failure


async def _in(scope: anyio.CancelScope, run: Callable[[], Awaitable[None]]) -> None:
    with scope:
        await run()
