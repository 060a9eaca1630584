"""Work that goes on while a block runs."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

import anyio

__all__ = ["alongside"]


@asynccontextmanager
async def alongside(work: Callable[[], Awaitable[None]]) -> AsyncGenerator[None]:
    """``work`` runs while the block does, and is cancelled at its end; where it fails the block is cancelled.

    Raises what either raises, as it is.
    """
    fault: Exception | None = None

    async def carried(scope: anyio.CancelScope) -> None:
        nonlocal fault
        try:
            await work()
        except Exception as error:
            fault = fault or error  # carried past the task group, which would wrap it
            scope.cancel()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(carried, tasks.cancel_scope)
        try:
            yield
        except Exception as error:
            fault = fault or error
        tasks.cancel_scope.cancel()
    if fault is not None:
        raise fault
