"""The batches of a run in the state folder, so that they are found again by whoever goes on with it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from toolspan_server.common.state.folder import private_folder
from toolspan_server.common.state.private_files import (
    list_private,
    read_private,
    remove_empty,
    remove_private,
    stat_private,
    write_private,
)

from ....batch import Batch, Intention
from ....errors import StoreError, UsageError

__all__ = ["KeptBatches"]

_BATCH, _INTENDED = ".json", ".intended"


class KeptBatches:
    """The handles of submitted batches, in files ``0001.json`` … of ``folder``, as ``toolspan batch`` takes
    them, and what is noted before one is created, in ``0001.intended`` … One process at a time uses a folder:
    it is that of a run which is held."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def all(self) -> Iterator[tuple[Path, Batch]]:
        """Each kept batch with its file, the first one first. Raises ``UsageError`` for one that cannot be
        read."""
        for path in self._paths(_BATCH):
            yield path, _loaded(path)

    def check(self) -> None:
        """Raise ``StoreError`` where no batch could be kept."""
        try:
            private_folder(self._folder)
        except OSError as fault:
            raise StoreError(f"batches cannot be kept in {self._folder}: {fault.strerror}") from None

    def intend(self, intention: Intention) -> Path:
        """Note that a batch is to be created, and say where. Raises ``StoreError``; then none is created."""
        numbers = (int(path.stem) for kind in (_BATCH, _INTENDED) for path in self._paths(kind))
        path = self._folder / f"{max(numbers, default=0) + 1:04}{_INTENDED}"
        try:
            write_private(path, intention.to_json())
        except OSError as fault:
            raise StoreError(
                f"no batch is created, since {path} cannot be written: {fault.strerror}"
            ) from None
        return path

    def intended(self) -> Iterator[tuple[Path, Intention]]:
        """What was noted, and is not known to have been created, with its file. Raises ``UsageError`` for
        what cannot be read, ``StoreError``."""
        for path in self._paths(_INTENDED):
            if stat_private(path.with_suffix(_BATCH)) is not None:
                self.drop(path)
                continue
            try:
                yield path, Intention.from_json(read_private(path))
            except OSError as fault:
                raise StoreError(f"{path} cannot be read: {fault.strerror}") from None
            except UsageError as fault:
                raise UsageError(f"{path} cannot be read: {fault}") from None

    def drop(self, intended: Path) -> None:
        """Forget what was noted in that file. Raises ``StoreError``."""
        try:
            remove_private(intended)
        except OSError as fault:
            raise StoreError(f"{intended} cannot be deleted: {fault.strerror}") from None

    def keep(self, batch: Batch, intended: Path) -> Path:
        """Keep ``batch``, which was ``intended`` in that file, and say where. Raises ``StoreError`` with its
        handle where that fails."""
        path = intended.with_suffix(_BATCH)
        try:
            write_private(path, batch.to_json())
        except OSError as fault:
            kept = batch.to_json().decode()
            raise StoreError(
                f"the batch cannot be saved as {path}: {fault.strerror}; the batch runs all the same: save "
                f"this and use `toolspan batch`:\n{kept}"
            ) from None
        self.drop(intended)
        return path

    def forget(self) -> None:
        """Delete all handles: the run has all of their answers. Raises ``StoreError``."""
        try:
            for path in (*self._paths(_BATCH), *self._paths(_INTENDED)):
                remove_private(path)
            remove_empty(self._folder)
        except OSError as fault:
            raise StoreError(f"{self._folder} cannot be deleted: {fault.strerror}") from None

    def _paths(self, kind: str) -> list[Path]:
        listed = (path for path, _ in list_private(self._folder))
        found = (path for path in listed if path.suffix == kind and path.stem.isdecimal())
        return sorted(found, key=lambda path: int(path.stem))


def _loaded(path: Path) -> Batch:
    try:
        return Batch.from_json(read_private(path))
    except OSError as fault:
        raise UsageError(f"the batch {path} cannot be read: {fault.strerror}") from None
    except UsageError as fault:
        raise UsageError(f"the batch {path} cannot be read: {fault}") from None
