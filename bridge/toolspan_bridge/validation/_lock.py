"""One process at a time: an advisory lock on a file, which the system gives back whatever ends its holder."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from toolspan_server.common.private_files import open_private

from ..errors import StoreError

if sys.platform == "win32":
    import msvcrt

    def _take(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

    def _give(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)
else:
    import fcntl

    def _take(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _give(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


@contextmanager
def locked(path: Path, timeout: float = 10.0) -> Generator[None]:
    """Hold the lock file ``path``. Raises ``StoreError`` after ``timeout`` seconds, ``OSError`` when it
    cannot be made."""
    descriptor = open_private(path, os.O_RDWR | os.O_CREAT)
    try:
        _wait(descriptor, path, timeout)
        try:
            yield
        finally:
            _give(descriptor)
    finally:
        os.close(descriptor)


def _wait(descriptor: int, path: Path, timeout: float) -> None:
    deadline = time.monotonic() + timeout
    while True:
        try:
            return _take(descriptor)
        except (BlockingIOError, PermissionError):
            if time.monotonic() > deadline:
                raise StoreError(
                    f"{path}: another process has held this lock for {timeout:g} s (end it, or try again)"
                ) from None
        time.sleep(0.01)
