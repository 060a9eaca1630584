"""Which process is at work on a run: one at a time, and none once it has died."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from filelock import FileLock, Timeout

from toolspan_server.common.state.folder import private_folder
from toolspan_server.common.state.private_files import private_file, remove_private

from ...errors import StoreError

__all__ = ["held_by_file", "number_of"]

_FOLDER = "runs"


@contextmanager
def held_by_file(store: Path, run_id: str) -> Generator[bool]:
    """Whether nobody else on this machine is at work on the run; then nobody else is until the block ends."""
    path = store.parent / _FOLDER / f"{run_id}.lock"
    try:
        private_folder(path.parent)
        lock = FileLock(private_file(path), 0, mode=0o600)
        lock.acquire()
    except Timeout:
        yield False
        return
    except OSError as error:
        raise StoreError(f"cannot lock the run {path}: {error.strerror or error}") from error
    try:
        yield True
    finally:
        lock.release()
        remove_private(path)


def number_of(run_id: str) -> int:
    """What stands for the run among PostgreSQL's advisory locks: 63 bits."""
    return int.from_bytes(sha256(f"toolspan run {run_id}".encode()).digest()[:8]) >> 1
