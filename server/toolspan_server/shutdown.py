"""The end of the process: asked for by a signal or a transport, and bounded in time."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio

GRACE_S = 1.0
"""How long running calls may take to finish once the end was asked for."""

LIMIT_S = 1.6
"""When the process ends whatever still runs."""

_LAST_THREADS_S = 0.1
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stop:
    """Whether and why the server ends.

    ``exit_code`` is 0, or 130 after Ctrl+C. A second signal ends the process at once, as does the
    first one while nothing is served yet; ``limit_s`` after the first one it ends whatever still runs.
    """

    def __init__(self, limit_s: float = LIMIT_S) -> None:
        self.exit_code = 0
        self._limit_s = limit_s
        self.requested = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._event: asyncio.Event | None = None
        self._timer: threading.Timer | None = None
        self._watchdog: threading.Timer | None = None
        self._other_threads = set(threading.enumerate())

    @contextmanager
    def signals(self) -> Generator[None]:
        """Take SIGINT and SIGTERM (from the main thread; elsewhere they are left alone)."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before: dict[signal.Signals, Any] = {each: signal.signal(each, self._received) for each in _SIGNALS}
        try:
            yield
        finally:
            for timer in (self._timer, self._watchdog):
                if timer is not None:
                    timer.cancel()
            for each, handler in before.items():
                signal.signal(each, handler)

    def request(self) -> None:
        """End the server. Safe from any thread."""
        self.requested = True
        if self._loop is not None and self._event is not None:
            self._loop.call_soon_threadsafe(self._event.set)

    def attach(self) -> None:
        """End by way of the running event loop from now on: a signal no longer ends the process at once.

        To be called before anything is served, so that what has begun can still be answered.
        """
        import asyncio

        self._event = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        if self.requested:
            self._event.set()

    async def wait(self) -> None:
        """Return once the end was asked for."""
        if self._event is None:
            self.attach()
        assert self._event is not None
        await self._event.wait()

    def end_within(self, seconds: float) -> None:
        """End the process after ``seconds`` even when something hangs; the first call counts."""
        if self._timer is None:
            self._timer = self._armed(seconds)

    def end_unless_alive(self, seconds: float) -> None:
        """End the process after ``seconds``, unless this is called again before."""
        if self._watchdog is not None:
            self._watchdog.cancel()
        self._watchdog = self._armed(seconds)

    def leave(self) -> None:
        """End the process here, output flushed, when a thread of a handler's still runs.

        Nobody can stop it: the interpreter might wait for it, and it might still print to the wire.
        """
        end = time.monotonic() + _LAST_THREADS_S
        for thread in threading.enumerate():
            if thread in self._other_threads or thread in (self._timer, self._watchdog):
                continue
            thread.join(max(0.0, end - time.monotonic()))
            if thread.is_alive():
                for stream in (sys.stdout, sys.stderr):
                    with suppress(Exception):  # a handler may have put anything in their place
                        stream.flush()
                self._end_now()

    def _received(self, number: int, _frame: FrameType | None) -> None:
        if number == signal.SIGINT:
            self.exit_code = 130
        if self.requested or self._loop is None:
            self._end_now()
        self.end_within(self._limit_s)
        self.request()

    def _armed(self, seconds: float) -> threading.Timer:
        timer = threading.Timer(seconds, self._end_now)
        timer.daemon = True
        timer.start()
        return timer

    def _end_now(self) -> None:
        os._exit(self.exit_code)
