"""Ctrl+C in a run: once, and no trial is begun any more; twice, and it is left at once."""

from __future__ import annotations

import signal
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import anyio
import click
from anyio.abc import TaskStatus

from ...validation import Stop

__all__ = ["interruptible"]


@asynccontextmanager
async def interruptible(on_first: Callable[[], None]) -> AsyncGenerator[Stop]:
    """While the block runs, the first Ctrl+C stops what is yielded, and ``on_first`` is called; the second
    one cancels the block.

    Raises ``click.Abort``, as for Ctrl+C anywhere else, once it is cancelled.
    """
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop  # signals reach the main thread only
        return
    fault: Exception | None = None
    is_over = False
    async with anyio.create_task_group() as tasks:
        await tasks.start(_listen, stop, on_first, tasks.cancel_scope)
        try:
            yield stop
        except Exception as error:
            fault = error  # carried past the task group, which would wrap it
        is_over = True
        tasks.cancel_scope.cancel()
    if fault is not None:
        raise fault
    if not is_over:
        raise click.Abort  # no KeyboardInterrupt: task groups would wrap it


async def _listen(
    stop: Stop,
    on_first: Callable[[], None],
    scope: anyio.CancelScope,
    *,
    task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
) -> None:
    with anyio.open_signal_receiver(signal.SIGINT) as signals:
        task_status.started()
        async for _ in signals:
            if stop.is_asked:
                scope.cancel()
                return
            stop.now()
            on_first()
