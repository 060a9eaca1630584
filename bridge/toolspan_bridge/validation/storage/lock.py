"""One process at a time: a lock on a file, which the system gives back whatever ends its holder."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from toolspan_server.common.state.private_files import private_file

from ...errors import StoreError

_POLL_SECONDS = 0.01


@contextmanager
def locked(path: Path, timeout: float = 10.0) -> Generator[None]:
    """Hold the lock file ``path``. Raises ``StoreError`` after ``timeout`` seconds, ``OSError`` when it
    cannot be made."""
    lock = FileLock(private_file(path), timeout, mode=0o600)
    try:
        lock.acquire(poll_interval=_POLL_SECONDS)
    except Timeout:
        raise StoreError(
            f"{path}: another process has held this lock for {timeout:g} s (end it, or try again)"
        ) from None
    try:
        yield
    finally:
        lock.release()
