"""Standard input and output as the transport: reserved for the protocol, read and written as bytes."""

from __future__ import annotations

import os
import select
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress

from ...errors import ServeError

_CHUNK = 65_536
_ATOMIC = 4096 if sys.platform == "win32" else select.PIPE_BUF
_GONE = 0 if sys.platform == "win32" else select.POLLERR | select.POLLHUP
_ENDED = _GONE | (select.POLLRDHUP if sys.platform == "linux" else 0)


class Pipes:
    """The client's two pipes. ``closed`` once the client no longer reads.

    ``backlog`` is the number of bytes that the client has not read yet, ``taken`` of those that it has.
    """

    def __init__(self, read_fd: int, write_fd: int) -> None:
        self.closed = False
        self.taken = 0
        self._read_fd = read_fd
        self._write_fd = write_fd
        self._out = bytearray()
        self._flushing = False
        self._reading = False
        self._reader: _ThreadReader | None = None
        self._poller: select.poll | None = None
        if sys.platform != "win32":
            self._poller = select.poll()
            self._poller.register(write_fd, select.POLLOUT)

    @property
    def backlog(self) -> int:
        return len(self._out)

    def open(self, received: Callable[[bytes], None], drained: Callable[[], None]) -> None:
        r"""Call ``received`` with all further input, and with ``b""`` at its end, except while ``pause``\ d.

        ``drained`` is called when the client has read everything that a ``flush`` had left, or delayed.
        """
        import asyncio

        self._loop = asyncio.get_running_loop()
        self._received = received
        self._drained = drained
        self._roomy = asyncio.Event()
        self._roomy.set()
        self.resume()

    def next_chunk(self, seconds: float) -> bytes | None:
        """The input that arrives within ``seconds``, read without an event loop; ``b""`` at its end.

        ``None`` when none arrived, when the client no longer reads, and where there is no ``poll``.
        """
        if self._poller is None or self.closed:
            return None
        poller = select.poll()
        poller.register(self._read_fd, select.POLLIN)
        poller.register(self._write_fd, 0)
        ready = [fd for fd, _ in poller.poll(seconds * 1000)]
        return _read(self._read_fd) if ready == [self._read_fd] else None

    def drain(self, seconds: float) -> None:
        """Write, before ``open``, as long as the client reads: until it reads nothing for ``seconds``."""
        self.write_now()
        while self._out and self._poller is not None and self._poller.poll(seconds * 1000):
            self.write_now()

    async def room(self) -> None:
        """Return once the client has room for output."""
        await self._roomy.wait()

    def close(self) -> None:
        """Stop reading and writing."""
        self.pause()
        if self._flushing and self._poller is not None:
            self._loop.remove_writer(self._write_fd)

    def pause(self) -> None:
        """Stop calling ``received`` until ``resume``."""
        if not self._reading:
            return
        self._reading = False
        if self._reader is None:
            self._loop.remove_reader(self._read_fd)
        else:
            self._reader.pause()

    def resume(self) -> None:
        """Continue to read."""
        if self._reading:
            return
        self._reading = True
        if self._reader is None:
            try:
                self._loop.add_reader(self._read_fd, self._readable)
            except (PermissionError, NotImplementedError):  # a regular file, /dev/null, or Windows
                self._reader = _ThreadReader(self._read_fd, self._take)
        else:
            self._reader.resume()

    def write(self, data: bytes) -> None:
        """Add ``data`` to the output of the next ``flush``. Dropped once the client no longer reads."""
        if not self.closed:
            self._out += data

    def flush_soon(self) -> None:
        """``flush`` after everything else that the event loop has ready."""
        if not self._flushing and self._out:
            self._flushing = True
            self._loop.call_soon(self._push)

    def flush(self) -> None:
        """Write the pending output; what the client does not read at once is written when it does."""
        if not self._flushing and self._out:
            self._flushing = not self._pushed()

    def hung_up(self) -> bool:
        """Whether the client has closed its end of our output."""
        if self._poller is None:
            return self.closed
        return self.closed or bool(_events(self._poller) & _GONE)

    def input_over(self) -> bool:
        """Whether the input is over, except for what is waiting to be read."""
        if sys.platform == "win32" or self._reader is not None:
            return True
        poller = select.poll()
        poller.register(self._read_fd, _ENDED & ~_GONE)
        return bool(_events(poller) & _ENDED)

    def _readable(self) -> None:
        self._take(_read(self._read_fd))

    def _take(self, chunk: bytes | None) -> None:
        if chunk is None:
            return
        if not chunk:
            self.pause()
        self._received(chunk)

    def _push(self) -> None:
        if self._pushed():
            self._flushing = False
            self._drained()

    def _writable(self) -> None:
        self._loop.remove_writer(self._write_fd)
        self._push()

    def _pushed(self) -> bool:
        """``write_now``; returns whether everything was written. The rest is written when there is room.

        A full pipe is waited for without blocking the event loop: when poll says that a pipe has
        room, PIPE_BUF bytes fit. The descriptor stays in blocking mode because other processes may
        share it.
        """
        self.write_now()
        if self._out:
            self._roomy.clear()
            self._loop.add_writer(self._write_fd, self._writable)
            return False
        self._roomy.set()
        return True

    def write_now(self) -> None:
        """Write while there is room; keep the rest."""
        while self._out and self._has_room() and self._write_some():
            pass
        if self.closed:
            self._out.clear()

    def _write_some(self) -> int:
        try:
            size = os.write(self._write_fd, self._out[:_ATOMIC])
        except BlockingIOError:
            return 0
        except OSError:
            self.closed = True
            return 0
        del self._out[:size]
        self.taken += size
        return size

    def _has_room(self) -> bool:
        """Whether to try a write. For some devices, macOS' poll reports only that it cannot poll them."""
        tried = select.POLLOUT | select.POLLNVAL | _GONE if self._poller else 0
        return self._poller is None or bool(_events(self._poller) & tried)


class _ThreadReader:
    """Reads in a thread where the event loop cannot wait for input."""

    def __init__(self, fd: int, take: Callable[[bytes | None], None]) -> None:
        self._fd = fd
        import asyncio

        self._give = take
        self._loop = asyncio.get_running_loop()
        self._paused = False
        self._withheld = False
        self._turn = threading.Semaphore(1)
        threading.Thread(target=self._read, name="toolspan stdin", daemon=True).start()

    def pause(self) -> None:
        self._paused = True

    def resume(self) -> None:
        self._paused = False
        if self._withheld:
            self._withheld = False
            self._turn.release()

    def _read(self) -> None:
        chunk: bytes | None = None
        while chunk != b"":
            self._turn.acquire()
            chunk = _read(self._fd)
            try:
                self._loop.call_soon_threadsafe(self._took, chunk)
            except RuntimeError:  # the loop has ended: the input has no reader
                return

    def _took(self, chunk: bytes | None) -> None:
        self._give(chunk)
        if self._paused:
            self._withheld = True
        else:
            self._turn.release()


def _read(fd: int) -> bytes | None:
    try:
        return os.read(fd, _CHUNK)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def _events(poller: select.poll) -> int:
    return next((events for _, events in poller.poll(0)), 0)


@contextmanager
def claimed(kind: type[Pipes] = Pipes) -> Generator[Pipes]:
    """Reserve standard input and output for the protocol, for the lifetime of the process: ``kind``.

    From then on descriptor 0 reads nothing and descriptor 1 is standard error, for Python, C code and
    child processes alike, and for what is written while the process ends. They are restored when the
    block ends in an exception, since nothing will be served. Raises ``ServeError`` when either is closed.
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
        yield kind(read_fd, write_fd)
    except BaseException:
        with suppress(Exception):  # a handler's module may have replaced the stream by any object
            sys.stdout.flush()
        os.dup2(read_fd, 0)
        os.dup2(write_fd, 1)
        os.close(read_fd)
        os.close(write_fd)
        raise


def _divert(nothing: int) -> None:
    try:
        os.dup2(2, 1, inheritable=True)
    except OSError:
        os.dup2(nothing, 1, inheritable=True)


def _above_standard(fd: int) -> int:
    """A private duplicate of ``fd``, numbered above the standard streams."""
    taken = [os.dup(fd)]
    try:
        while taken[-1] <= 2:
            taken.append(os.dup(fd))
    finally:
        for low in taken[:-1]:
            os.close(low)
    return taken[-1]
