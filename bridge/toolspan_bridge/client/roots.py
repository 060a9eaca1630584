"""The folders that servers are told of (MCP, client/roots)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

MAX_ROOTS = 100


class Roots:
    """The folders in which a person works. ``replace`` sets others, and those who ``watch`` are told."""

    def __init__(self, folders: Iterable[Path] = ()) -> None:
        self._folders = _checked(folders)
        self._watching: list[Callable[[], None]] = []

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders, absolute."""
        return self._folders

    def replace(self, folders: Iterable[Path]) -> None:
        """Tell of ``folders`` from now on. Raises ``ValueError`` where they are too many."""
        self._folders = _checked(folders)
        for changed in tuple(self._watching):
            changed()

    def watch(self, changed: Callable[[], None]) -> Callable[[], None]:
        """Call ``changed`` whenever the folders are others, until what this gives is called."""
        self._watching.append(changed)
        return lambda: self._watching.remove(changed)

    def as_dict(self) -> dict[str, Any]:
        """``ListRootsResult``: ``{"roots": [{"uri", "name"}]}``."""
        return {"roots": [{"uri": folder.as_uri(), "name": folder.name} for folder in self._folders]}


def _checked(folders: Iterable[Path]) -> tuple[Path, ...]:
    found = tuple(dict.fromkeys(folder.absolute() for folder in folders))
    if len(found) > MAX_ROOTS:
        raise ValueError(f"{len(found)} roots are more than {MAX_ROOTS}")
    return found
