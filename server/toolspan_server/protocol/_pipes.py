"""Standard input and output as the wire: taken away from everything else, read and written as bytes."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import AsyncIterator, Generator
from contextlib import contextmanager, suppress

import anyio
import anyio.to_thread

from ..errors import ServeError

_CHUNK = 65_536
_ATOMIC = 4096 if sys.platform == "win32" else select.PIPE_BUF


class Pipes:
    """The client's two pipes. ``closed`` once the client no longer reads."""

    def __init__(self, read_fd: int, write_fd: int) -> None:
        self.closed = False
        self._read_fd = read_fd
        self._write_fd = write_fd
        self._writing = anyio.Lock()
        self._own_thread = anyio.CapacityLimiter(1)
        self._poller: select.poll | None = None
        if sys.platform != "win32":
            self._poller = select.poll()
            self._poller.register(write_fd, select.POLLOUT)

    async def chunks(self) -> AsyncIterator[bytes]:
        """What comes in, until end of file."""
        while chunk := await self._read():
            yield chunk

    async def write(self, data: bytes) -> None:
        """Write all of ``data``, never mixed with another write. Dropped once the client no longer reads.

        A full pipe is waited for without blocking the event loop: when poll says that a pipe has
        room, PIPE_BUF bytes fit. The descriptor stays in blocking mode because other processes may
        share it.
        """
        with anyio.CancelScope(shield=True):
            async with self._writing:
                rest = memoryview(data)
                while rest and not self.closed:
                    if not self._has_room():
                        await anyio.wait_writable(self._write_fd)
                    rest = rest[self._write_some(rest[:_ATOMIC]) :]

    def hung_up(self) -> bool:
        """Whether the client has closed its end of our output."""
        if self._poller is None:
            return self.closed
        return self.closed or bool(
            _events(self._poller) & (select.POLLERR | select.POLLHUP | select.POLLNVAL)
        )

    def _write_some(self, data: memoryview) -> int:
        try:
            return os.write(self._write_fd, data)
        except OSError:
            self.closed = True
            return 0

    def _has_room(self) -> bool:
        return self._poller is None or bool(_events(self._poller) & select.POLLOUT)

    async def _read(self) -> bytes:
        try:
            await anyio.wait_readable(self._read_fd)
        except (PermissionError, NotImplementedError):  # a regular file, /dev/null, or Windows
            return await anyio.to_thread.run_sync(
                self._read_now, abandon_on_cancel=True, limiter=self._own_thread
            )
        return self._read_now()

    def _read_now(self) -> bytes:
        try:
            return os.read(self._read_fd, _CHUNK)
        except OSError:
            return b""


def _events(poller: select.poll) -> int:
    return next((events for _, events in poller.poll(0)), 0)


@contextmanager
def claimed() -> Generator[Pipes]:
    """Take standard input and output for the protocol.

    Inside, descriptor 0 reads nothing and descriptor 1 is standard error, for Python, C code and
    child processes alike. Raises ``ServeError`` when either is closed.
    """
    try:
        read_fd, write_fd = _above_standard(0), _above_standard(1)
    except OSError as fault:
        raise ServeError(
            f"standard input or output is closed ({fault.strerror}): start the server from an MCP client, "
            "or serve over HTTP with --transport http"
        ) from None
    sys.stdout.flush()
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0, inheritable=True)
    _divert(nothing)
    os.close(nothing)
    try:
        yield Pipes(read_fd, write_fd)
    finally:
        with suppress(OSError, ValueError):
            sys.stdout.flush()
        os.dup2(read_fd, 0)
        os.dup2(write_fd, 1)
        os.close(read_fd)
        os.close(write_fd)


def _divert(nothing: int) -> None:
    try:
        os.dup2(2, 1, inheritable=True)
    except OSError:
        os.dup2(nothing, 1, inheritable=True)


def _above_standard(fd: int) -> int:
    """A private duplicate of ``fd`` that no standard stream can fall on."""
    taken = [os.dup(fd)]
    try:
        while taken[-1] <= 2:
            taken.append(os.dup(fd))
    finally:
        for low in taken[:-1]:
            os.close(low)
    return taken[-1]
