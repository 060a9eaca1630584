"""Documents in files: ``{user}/{conversation}/{tool}.json``, each written whole or not at all."""

from __future__ import annotations

import logging
import os
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ...calls.storage import Document, Place
from ...common.file_names import file_name
from ...common.state.folder import private_folder
from ...common.state.private_files import (
    list_folders,
    list_private,
    open_private,
    private_file,
    read_private,
    remove_empty,
    remove_private,
    rename_private,
    sync_folder,
)
from ._documents import LONGEST, decoded, encoded, version_of
from ._failures import failed, full, held
from ._limits import StorageLimits, blocks

_log = logging.getLogger(__name__)
_LOCK = ".lock"
_PATIENCE_S = 10.0
_POLL_S = 0.01


class FileStore:
    """Documents below ``folder``, which is made when the first is written.

    Writers of one user's documents wait for each other, in all processes, by a lock on a file; readers wait
    for none. What a killed writer leaves is written over by the next.
    """

    def __init__(self, folder: Path, limits: StorageLimits | None = None) -> None:
        self._folder = folder
        self._limits = limits or StorageLimits()

    def read(self, place: Place) -> Document:
        """The document at ``place``, an empty one if there is none. Raises ``ToolFailure``."""
        path = self._path(place)
        try:
            stored = _stored(path)
        except OSError as error:
            raise failed("read", str(path), _reason(error)) from None
        return decoded(stored, str(path))

    def replace(self, place: Place, version: str, data: Mapping[str, Any]) -> bool:
        """Put ``data`` there if its version is still ``version``; returns whether it was.

        Raises ``ToolFailure``, and then the document is as it was.
        """
        path = self._path(place)
        new = encoded(data, self._limits.document_bytes)
        try:
            with _locked(path.parent.parent / _LOCK):
                old = _stored(path)
                if version_of(old) != version:
                    return False
                if new is None:
                    _remove(path)
                else:
                    self._check_quota(path.parent.parent, old, new)
                    _put(path, new)
        except OSError as error:
            raise failed("written", str(path), _reason(error)) from None
        return True

    def _path(self, place: Place) -> Path:
        user, conversation, tool = map(file_name, place)
        return self._folder / user / conversation / f"{tool}.json"

    def _check_quota(self, user: Path, old: bytes | None, new: bytes) -> None:
        growth = blocks(len(new)) - blocks(len(old or b""))
        if growth <= 0:
            return
        used = growth + sum(blocks(size) for size in _sizes(user))
        if used > self._limits.user_bytes:
            raise full(used, self._limits.user_bytes)


@contextmanager
def _locked(path: Path) -> Generator[None]:
    """Hold the lock file ``path``. Raises ``ToolFailure`` when another process does for long, ``OSError``."""
    from filelock import FileLock, Timeout

    private_folder(path.parent)
    lock = FileLock(private_file(path), _PATIENCE_S, mode=0o600)
    try:
        lock.acquire(poll_interval=_POLL_S)
    except Timeout:
        raise held(str(path), _PATIENCE_S) from None
    try:
        yield
    finally:
        lock.release()


def _stored(path: Path) -> bytes | None:
    """The bytes of ``path``; ``None`` when it is not there."""
    try:
        return read_private(path, LONGEST + 1)
    except FileNotFoundError:
        return None


def _sizes(user: Path) -> Iterator[int]:
    """The sizes of a user's documents."""
    for conversation in list_folders(user):
        for path, found in list_private(conversation):
            if path.suffix == ".json" and not path.name.startswith("."):
                yield found.st_size


def _put(path: Path, data: bytes) -> None:
    """Replace ``path`` by a file with ``data``, in one step. The caller holds the user's lock."""
    private_folder(path.parent)
    beside = path.with_name(f".{path.name}.new")
    remove_private(beside)
    try:
        with os.fdopen(open_private(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        rename_private(beside, path)
    except BaseException:
        remove_private(beside)
        raise
    _keep_through_a_power_cut(path.parent)


def _remove(path: Path) -> None:
    remove_private(path)
    remove_private(path.with_name(f".{path.name}.new"))
    remove_empty(path.parent)


def _keep_through_a_power_cut(folder: Path) -> None:
    """Have the disk take what was renamed in ``folder``. If it fails, the document is there all the same."""
    try:
        sync_folder(folder)
    except OSError as error:
        _log.warning("%s: the disk did not confirm what was written: %s", folder, _reason(error))


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
