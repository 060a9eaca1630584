"""The batches of a run in the state folder, so that they are found again by whoever goes on with it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from toolspan_server.common.private_files import private_folder

from ....batch import Batch
from ....errors import StoreError

__all__ = ["KeptBatches"]


class KeptBatches:
    """The handles of submitted batches, in files ``0001.json`` … of ``folder``, as ``toolspan batch`` takes
    them. One process at a time uses a folder: it is that of a run which is held."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def all(self) -> Iterator[tuple[Path, Batch]]:
        """Each kept batch with its file, the first one first. Raises ``UsageError`` for one that cannot be
        read."""
        for path in self._paths():
            yield path, Batch.load(path)

    def check(self) -> None:
        """Raise ``StoreError`` where no batch could be kept."""
        try:
            private_folder(self._folder)
        except OSError as fault:
            raise StoreError(f"batches cannot be kept in {self._folder}: {fault.strerror}") from None

    def keep(self, batch: Batch) -> Path:
        """Keep ``batch``, and say where. Raises ``StoreError`` with its handle where that fails."""
        last = max((int(path.stem) for path in self._paths()), default=0)
        path = self._folder / f"{last + 1:04}.json"
        try:
            batch.save(path)
        except StoreError as fault:
            kept = batch.to_json().decode()
            raise StoreError(
                f"{fault.message}; the batch runs all the same: save this and use `toolspan batch`:\n{kept}"
            ) from None
        return path

    def forget(self) -> None:
        """Delete all handles: the run has all of their answers. Raises ``StoreError``."""
        try:
            for path in self._paths():
                path.unlink(missing_ok=True)
            if self._folder.is_dir() and not any(self._folder.iterdir()):
                self._folder.rmdir()
        except OSError as fault:
            raise StoreError(f"{self._folder} cannot be deleted: {fault.strerror}") from None

    def _paths(self) -> list[Path]:
        found = (path for path in self._folder.glob("*.json") if path.stem.isdecimal())
        return sorted(found, key=lambda path: int(path.stem))
