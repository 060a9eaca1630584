"""Several processes on one port: the parent holds the socket and supervises, its children serve.

The parent forks before anything runs in it: no event loop, no services. A child that dies is replaced,
without effect on the others. Without fork (Windows) there are no workers.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any, NoReturn

import anyio

from ...errors import ServeError
from ...shutdown import LIMIT_S, Stop
from ..state.single_use_tokens import single_use
from ..state.state_key import ephemeral_key

Serve = Callable[[socket.socket, Callable[[], None], int], int]
"""Serves on a socket, calls back when ready, ends when a descriptor closes; returns the exit code."""

_END_S = LIMIT_S + 0.2
_STEADY_S = 10.0
_FIRST_DELAY_S = 0.1
_MOST_DELAY_S = 30.0
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def check_workers() -> None:
    """Raise ``ServeError`` when this system cannot run workers."""
    if not hasattr(os, "fork"):
        raise ServeError(
            "--workers needs fork, which this system does not have: start a server at each of several ports"
        )


def spread(listener: socket.socket, count: int) -> list[socket.socket]:
    """A listening socket for each of ``count`` workers, all at ``listener``'s address.

    Linux distributes new connections among the sockets of one address; the first was bound alone, so that a
    port in use was refused. Elsewhere the workers accept from the same socket.
    """
    if sys.platform != "linux":
        return [listener] * count
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    sockets = [listener]
    while len(sockets) < count:
        another = socket.socket(listener.family, socket.SOCK_STREAM)
        sockets.append(another)
        another.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        another.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        another.bind(listener.getsockname())
        another.listen(2048)
    return sockets


async def until_orphaned(alive: int, stop: Stop) -> None:
    """In a worker: stop the server when the parent, which holds the other end of ``alive``, is gone."""
    await anyio.wait_readable(alive)
    stop.end_within(LIMIT_S)
    stop.request()


@dataclass
class _Worker:
    number: int
    listener: socket.socket
    pid: int = 0
    started: float = 0.0
    due: float = 0.0
    failures: int = 0


class Workers:
    """Runs ``serve`` in a process for each of ``listeners``, until a signal ends all.

    ``ready`` is called once all of them serve; ``say`` prints a line for the operator.
    """

    def __init__(
        self,
        serve: Serve,
        listeners: Sequence[socket.socket],
        ready: Callable[[], None],
        say: Callable[[str], None],
    ) -> None:
        self._serve = serve
        self._ready = ready
        self._say = say
        self._workers = [_Worker(number, each) for number, each in enumerate(listeners, 1)]
        self._unready = set(range(1, len(self._workers) + 1))
        self._serving = False
        self._end: float | None = None
        self._exit_code = 0

    def run(self) -> int:
        """The exit code: 0, 130 after Ctrl+C, or that of a worker that could not even start."""
        ephemeral_key()
        single_use()
        gc.freeze()
        self._alive, self._lifeline = os.pipe()
        self._ready_reader, self._ready_writer = os.pipe()
        self._woken, self._wake = os.pipe()
        for descriptor in (self._ready_reader, self._woken, self._wake):
            os.set_blocking(descriptor, False)
        with self._signals():
            while self._end is None or self._running():
                self._start_due()
                select.select([self._ready_reader, self._woken], [], [], self._patience())
                self._drain()
                self._reap()
                self._hurry()
        return self._exit_code

    def _running(self) -> list[_Worker]:
        return [worker for worker in self._workers if worker.pid]

    def _patience(self) -> float | None:
        """How many seconds to wait for an event; ``None``: until one comes."""
        moments = (
            [worker.due for worker in self._workers if not worker.pid] if self._end is None else [self._end]
        )
        return max(0.0, min(moments) - time.monotonic()) if moments else None

    def _start_due(self) -> None:
        now = time.monotonic()
        for worker in self._workers:
            if self._end is None and not worker.pid and worker.due <= now:
                self._start(worker)

    def _start(self, worker: _Worker) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        worker.started = time.monotonic()
        try:
            worker.pid = os.fork()
        except OSError as fault:
            self._replace(worker, f"cannot be started ({fault.strerror})")
        else:
            if not worker.pid:
                self._become(worker, before)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if self._end is not None and worker.pid:
            os.kill(worker.pid, signal.SIGTERM)

    def _become(self, worker: _Worker, mask: set[Any]) -> NoReturn:
        """Run the worker, in the process that was just forked for it."""
        code = 1
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, self._handlers[signal.SIGCHLD])
            signal.signal(signal.SIGTERM, _once(self._handlers[signal.SIGTERM]))
            signal.signal(signal.SIGINT, lambda _number, _frame: None)  # the parent's business
            for descriptor in (self._lifeline, self._ready_reader, self._woken, self._wake):
                os.close(descriptor)
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            code = self._serve(worker.listener, lambda: self._report(worker), self._alive)
        except BaseException:
            self._say(traceback.format_exc())
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    def _report(self, worker: _Worker) -> None:
        os.write(self._ready_writer, bytes([worker.number]))

    def _drain(self) -> None:
        """Read the events: signals, and the numbers of workers that serve."""
        while _read(self._woken):
            pass
        while numbers := _read(self._ready_reader):
            self._unready -= set(numbers)
        if not self._unready and not self._serving and self._end is None:
            self._serving = True
            self._ready()

    def _reap(self) -> None:
        for worker in self._running():
            pid, status = os.waitpid(worker.pid, os.WNOHANG)
            if pid:
                worker.pid = 0
                self._lost(worker, pid, os.waitstatus_to_exitcode(status))

    def _lost(self, worker: _Worker, pid: int, code: int) -> None:
        """Handle the end of a worker: replace it, unless it was stopped or never served."""
        if self._end is not None:
            return
        how = f"was killed by signal {-code}" if code < 0 else f"ended with status {code}"
        if self._serving:
            self._replace(worker, f"(process {pid}) {how}")
        else:
            self._say(f"toolspan: worker {worker.number} (process {pid}) {how} before it served")
            self._finish(code if code > 0 else 1)

    def _replace(self, worker: _Worker, what: str) -> None:
        """Start another worker after a delay, which grows each time that it ends soon again."""
        now = time.monotonic()
        worker.failures = 0 if now - worker.started > _STEADY_S else worker.failures + 1
        delay = min(_FIRST_DELAY_S * 2**worker.failures, _MOST_DELAY_S)
        worker.due = now + delay
        self._say(f"toolspan: worker {worker.number} {what}; another starts in {delay:.1f} s")

    def _received(self, number: int, _frame: FrameType | None) -> None:
        if number == signal.SIGCHLD:
            return
        if self._end is not None:
            self._end = 0.0
        else:
            self._finish(130 if number == signal.SIGINT else 0)

    def _finish(self, code: int) -> None:
        self._exit_code = code
        self._end = time.monotonic() + _END_S
        for worker in self._running():
            os.kill(worker.pid, signal.SIGTERM)

    def _hurry(self) -> None:
        """Kill the remaining workers when their time is over, or at a second signal."""
        if self._end is not None and time.monotonic() >= self._end:
            for worker in self._running():
                os.kill(worker.pid, signal.SIGKILL)
                os.waitpid(worker.pid, 0)
                worker.pid = 0

    @contextmanager
    def _signals(self) -> Generator[None]:
        numbers = (*_SIGNALS, signal.SIGCHLD)
        self._handlers: dict[signal.Signals, Any] = {
            number: signal.signal(number, self._received) for number in numbers
        }
        signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(-1)
            for number, handler in self._handlers.items():
                signal.signal(number, handler)


def _once(handler: Any) -> Callable[[int, FrameType | None], None]:
    """``handler`` for the first signal only: a signal to the whole group also arrives through the parent."""
    received = False

    def first(number: int, frame: FrameType | None) -> None:
        nonlocal received
        if received:
            return
        received = True
        if callable(handler):
            handler(number, frame)
        elif handler == signal.SIG_DFL:  # it came before the worker had a handler of its own
            signal.signal(number, handler)
            signal.raise_signal(number)

    return first


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 4096)
    except BlockingIOError:
        return b""
