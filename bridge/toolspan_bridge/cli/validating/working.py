"""A worker at a terminal or as a service: what it works with, what it says, and how it is stopped."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from importlib import import_module

import anyio
import anyio.to_thread

from toolspan_server.common.garbage_collector import frozen
from toolspan_server.common.visible import visible_line

from ...errors import UsageError
from ...messages import ReasoningEffort
from ...sessions.session import Session
from ...sessions.validating import asker_of
from ...validation import Asker, Concurrency, Stop, Store
from ...validation.fingerprint import hash_of_tools
from ...validation.queue.alongside import alongside
from ...validation.queue.connection import Queue, opened_queue
from ...validation.queue.pace import SharedLimiters
from ...validation.queue.worker import GRACE, Worker, WorkerSettings
from ..host import TERMINAL
from ..terminal.output import print_note
from .run import store_for

__all__ = ["worked"]

_SHORTEST_LEASE = 1.0
_EXIT_INTERRUPTED = 130
_IMPORTED_AHEAD = ("procrastinate.worker", "genai_prices.data", "jsonschema_rs")
"""What the first trials need: they take as long to import as three answers of a quick model."""
_SWITCH_S = 0.0005
"""How long a thread may go on while another waits to. The usual 5 ms are more than the thread that writes
needs after each reply of the database, and meanwhile it keeps other workers from the same counts."""


async def worked(session: Session, url: str, concurrency: int | None, lease: float) -> int:
    """Work off the queue at ``url`` until a signal comes; the exit code.

    Raises ``UsageError`` for a ``lease`` under a second; as ``opened_queue``, and as ``Worker.run``.
    """
    if lease < _SHORTEST_LEASE:
        raise UsageError("--lease must be at least 1s: workers give a sign of life three times in it")
    config = session.config
    at_once = config.validation.concurrency if config.validation else {}
    settings = WorkerSettings(
        tools=hash_of_tools(session.toolbox.tools),
        name=f"{visible_line(socket.gethostname())}:{os.getpid()}",
        concurrency=Concurrency(concurrency, at_once),
        lease=lease,
    )
    async with opened_queue(url) as queue:
        with Store.open(store_for(config, url), redact=config.redact) as store:
            return await _work(session, queue, store, settings)


async def _work(session: Session, queue: Queue, store: Store, settings: WorkerSettings) -> int:
    limiters = SharedLimiters(queue)
    async with AsyncExitStack() as stack:
        askers: dict[ReasoningEffort | None, Asker] = {}

        async def asker(reasoning: ReasoningEffort | None) -> Asker:
            if reasoning not in askers:
                askers[reasoning] = await stack.enter_async_context(
                    asker_of(session, TERMINAL, reasoning, limiters)
                )
            return askers[reasoning]

        await asker(None)
        await stack.enter_async_context(_prepared(store))
        worker, stop = Worker(queue, store, asker, settings, print_note), Stop()
        signals = _Signals(worker, stop)
        print_note(f"worker {settings.name} waits for trials at {queue.place.shown}; Ctrl+C stops it")
        async with alongside(limiters.keep_in_step), alongside(signals.listen):
            await worker.run(stop)
        return signals.exit_code


@asynccontextmanager
async def _prepared(store: Store) -> AsyncGenerator[None]:
    """Do what the first trials would wait for. Raises ``StoreError`` where ``store`` cannot be written."""
    for name in _IMPORTED_AHEAD:
        import_module(name)
    await anyio.to_thread.run_sync(store.rehearse)
    usual = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_S)
    try:
        with frozen():
            yield
    finally:
        sys.setswitchinterval(usual)


class _Signals:
    """Stops ``worker`` at Ctrl+C and SIGTERM."""

    def __init__(self, worker: Worker, stop: Stop) -> None:
        self._worker = worker
        self._stop = stop
        self.exit_code = 0

    async def listen(self) -> None:
        """Stop the worker at the first signal, and give back at once what it runs at the second."""
        if threading.current_thread() is not threading.main_thread():
            return  # signals reach the main thread only
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            async for number in signals:
                if number == signal.SIGINT:
                    self.exit_code = _EXIT_INTERRUPTED
                if self._stop.is_asked:
                    self._worker.leave()
                    continue
                self._stop.now()
                self._worker.wake()
                print_note(
                    f"stops: trials that run have {GRACE:g} s to end, what is left goes back to the queue "
                    "(Ctrl+C again gives it back at once)"
                )
