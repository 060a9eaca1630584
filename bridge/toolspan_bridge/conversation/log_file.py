"""The file of a conversation's log: lines appended whole, by one process at a time, for its owner alone.

The file itself is locked, as the import of filelock alone would take a twentieth of the time of an ``ask``.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from toolspan_server.common.state.private_files import open_private, remove_private

from ..errors import BusyError, StoreError

__all__ = ["LogFile", "hold"]

_FLAGS = os.O_WRONLY | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
_FAR = 2**40
"""Beyond the end of any log: where Windows locks a byte."""


class LogFile:
    """The log in ``path``, held until ``close``: no other process can append to it.

    A line is one write: ended at any moment, a process leaves whole lines and at most a part of one. ``sync``
    makes them last through a power cut. ``append`` leaves nothing of a line that could not be written.
    """

    def __init__(self, path: Path, descriptor: int, size: int, max_bytes: int) -> None:
        self.path = path
        self._descriptor = descriptor
        self._size = size
        self._max_bytes = max_bytes

    @classmethod
    def made(cls, path: Path, max_bytes: int) -> Self:
        """A new log. Raises ``OSError``, also when there is one."""
        return cls(path, hold(path, os.O_CREAT | os.O_EXCL), 0, max_bytes)

    @classmethod
    def opened(cls, path: Path, descriptor: int, size: int, max_bytes: int) -> Self:
        """The log in ``path``, of which ``descriptor`` is held, cut to its first ``size`` bytes.

        Raises ``OSError``.
        """
        if os.fstat(descriptor).st_size != size:
            os.ftruncate(descriptor, size)
        return cls(path, descriptor, size, max_bytes)

    @property
    def size(self) -> int:
        """How many bytes are in the file."""
        return self._size

    def append(self, line: Mapping[str, Any]) -> None:
        """Write ``line``. Raises ``StoreError`` when it is no JSON or too much, and ``OSError``; then nothing
        of it is in the file."""
        try:
            data = json.dumps(line, separators=(",", ":")).encode() + b"\n"
        except (TypeError, ValueError, RecursionError) as error:
            raise StoreError(f"it cannot be written as JSON: {error}") from None
        if self._size + len(data) > self._max_bytes:
            raise StoreError(f"it would be larger than {self._max_bytes:,} bytes (conversations.max_bytes)")
        try:
            written = 0
            while written < len(data):
                written += os.write(self._descriptor, data[written:])
        except BaseException:
            with suppress(OSError):  # what the next opening cuts off
                os.ftruncate(self._descriptor, self._size)
            raise
        self._size += len(data)

    def sync(self) -> None:
        """Have the system put every line on the disk. Raises ``OSError``."""
        os.fsync(self._descriptor)

    def close(self, *, remove: bool = False) -> None:
        """Let other processes append; ``remove`` the file as well."""
        try:
            if remove and sys.platform != "win32":
                remove_private(self.path)
        finally:
            os.close(self._descriptor)
        if remove and sys.platform == "win32":  # which removes no open file
            remove_private(self.path)


def hold(path: Path, flags: int = 0) -> int:
    """A descriptor of the log in ``path``, to append, that holds it until it is closed.

    Raises ``BusyError`` when another process holds it, and ``OSError``.
    """
    descriptor = open_private(path, _FLAGS | flags)
    try:
        if not _locked(descriptor):
            raise BusyError(f"the conversation {path.stem} is in use by another process")
        if os.fstat(descriptor).st_nlink == 0:
            raise FileNotFoundError(2, "it was deleted just now", str(path))
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _locked(descriptor: int) -> bool:
    """Lock the open file, without waiting; the system gives the lock back whatever ends this process."""
    if sys.platform == "win32":
        import msvcrt

        os.lseek(descriptor, _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
