"""When a collection's folder has to be looked at again."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from threading import Event
from typing import Any

from typing_extensions import override

from ..file_watch import FileWatch
from ._folder import DocumentFolder


class ChangeWatcher(FileWatch):
    """Watches ``tree`` from a worker thread until ``stop`` is set."""

    def __init__(self, tree: DocumentFolder, stop: Event) -> None:
        super().__init__(f"the folder of collection {tree.name!r}", stop)
        self._tree = tree
        self._due = float("inf")

    def look_again(self, after: float = 0.0) -> None:
        """Give one more round in ``after`` seconds, as if something had changed. From any thread."""
        self._due = time.monotonic() + after

    @override
    def identity(self) -> Any:
        return self._tree.identity()

    @override
    def present(self) -> Iterable[Path]:
        return (self._tree.root,)

    @override
    def relevant(self, path: str) -> str | None:
        return self._tree.relevant(path)

    @override
    def is_due(self) -> bool:
        """Whether ``look_again`` asked for a round by now; asked once, it is done."""
        due = time.monotonic() >= self._due
        if due:
            self._due = float("inf")
        return due
