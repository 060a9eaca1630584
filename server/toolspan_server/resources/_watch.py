"""When the files behind resources have to be looked at again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from threading import Event
from typing import Any

from typing_extensions import override

from ..engines.file_watch import FileWatch
from ._folder import Folder


class FolderWatch(FileWatch):
    """Watches ``folders``, with what is below them if ``recursive``, from a worker thread until ``stop``."""

    def __init__(self, folders: Sequence[Folder], stop: Event, *, recursive: bool) -> None:
        super().__init__("a folder of resources", stop, recursive=recursive)
        self._folders = folders

    @override
    def identity(self) -> Any:
        found = [folder.tree.identity() for folder in self._folders]
        return found if any(found) else None

    @override
    def present(self) -> Iterable[Path]:
        return {folder.root for folder in self._folders if folder.tree.identity()}

    @override
    def relevant(self, path: str) -> str | None:
        return path if any(folder.tree.relevant(path) is not None for folder in self._folders) else None
