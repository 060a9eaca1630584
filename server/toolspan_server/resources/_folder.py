"""A folder whose files are resources. No file outside of it is read, whatever links it contains."""

from __future__ import annotations

import glob
import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

from ..engines.documents._document import UnreadableFile
from ..engines.documents._folder import DocumentFolder, shown
from ..engines.documents._globs import Selection
from .errors import ResourceNotFound, ResourceUnreadable

_MOST_WARNED = 1_000
_DEEPEST = 128
"""The most names in a path: a URI may hold thousands, and each is matched against excluded folders."""

_log = logging.getLogger(__name__)
_NEVER = Event()


@dataclass(frozen=True, slots=True)
class FileEntry:
    """An existing file: its path in the folder, its size in bytes, modification time (ns), and a stamp."""

    path: str
    size: int
    modified_ns: int
    stamp: tuple[int, ...]


@dataclass
class Folder:
    """The files of ``base / path`` that ``selection`` matches, for the resource ``what``.

    Unless it may lie ``outside``, the folder has to be inside ``base`` also after following links.
    """

    what: str
    base: Path
    path: str
    selection: Selection
    outside: bool = False
    recursive: bool = True
    _warned: dict[str, str] = field(default_factory=dict[str, str])

    def __post_init__(self) -> None:
        self.tree = DocumentFolder(self.what, self.base / self.path, self.selection)

    @property
    def root(self) -> Path:
        """The folder's path."""
        return self.tree.root

    def entries(self, stop: Event = _NEVER) -> Iterator[FileEntry]:
        """The files, sorted; none when the folder does not exist or is not allowed."""
        if self.tree.identity() is None or not self._is_allowed():
            return
        root = Path(os.path.realpath(self.root))
        for entry in self.tree.entries(self._skip, stop):
            try:
                status = (root / entry.path).stat()
            except OSError:
                continue
            stamp = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
            yield FileEntry(entry.path, status.st_size, status.st_mtime_ns, stamp)

    def has(self, path: str) -> bool:
        """Whether ``path`` is the path of a file that the folder may have."""
        steps = path.split("/")
        plain = all(step and step not in (".", "..") and "\0" not in step for step in steps)
        return (
            plain and len(steps) <= _DEEPEST and self.selection.reaches(path) and self.selection.selects(path)
        )

    def read(self, path: str, uri: str, limit: int) -> bytes:
        """The bytes of the file ``path`` for the resource ``uri``.

        Raises ``ResourceNotFound`` when it does not exist, ``ResourceUnreadable`` when it is not a regular
        file inside the folder of at most ``limit`` bytes.
        """
        if not self.has(path) or not self._is_allowed():
            raise ResourceNotFound(uri)
        return self.content(path, uri, limit)

    def content(self, path: str, uri: str, limit: int) -> bytes:
        """Like ``read``, for any file in the folder."""
        try:
            return self.tree.read(path, limit)
        except UnreadableFile as reason:
            if not os.path.exists(self.root / path):  # noqa: PTH110  # never raises
                raise ResourceNotFound(uri) from None
            self._skip(path, str(reason))
            why = str(reason)
            if why.startswith("larger"):
                why = f"it is {why}, the limit of resource_bytes"
            raise ResourceUnreadable(uri, why) from None

    def _is_allowed(self) -> bool:
        real = Path(os.path.realpath(self.root))
        if self.outside or real.is_relative_to(os.path.realpath(self.base)):
            return True
        self._skip(".", "its folder leads out of the config's; write outside: true to allow that")
        return False

    def _skip(self, path: str, reason: str) -> None:
        if self._warned.get(path) != reason and len(self._warned) < _MOST_WARNED:
            self._warned[path] = reason
            _log.warning("resource %r: left out %r: %s", self.what, shown(path), reason)


@dataclass(frozen=True, slots=True)
class OneFile:
    """The one file ``base / path``, for the resource ``what``; links are followed inside ``base`` only."""

    what: str
    base: Path
    path: str
    outside: bool = False

    @property
    def parent(self) -> Folder:
        """The folder that contains the file, and no other file."""
        where, _, name = self.path.replace("\\", "/").rpartition("/")
        selection = Selection([glob.escape(name)])
        return Folder(self.what, self.base, where or ".", selection, outside=True, recursive=False)

    def entry(self) -> FileEntry | None:
        """The file as it is now; ``None`` when it cannot be read."""
        real = self._real()
        if real is None or not os.path.isfile(real):  # noqa: PTH113  # never raises
            return None
        try:
            status = real.stat()
        except OSError:
            return None
        stamp = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
        return FileEntry(real.name, status.st_size, status.st_mtime_ns, stamp)

    def read(self, uri: str, limit: int) -> bytes:
        """The file's bytes, as ``Folder.read`` returns them."""
        real = self._real()
        if real is None:
            raise ResourceUnreadable(uri, "it is a link that leaves the config's folder")
        root = real.parent if self.outside else Path(os.path.realpath(self.base))
        folder = Folder(self.what, root, ".", Selection(()))
        return folder.content(str(real.relative_to(root)), uri, limit)

    def _real(self) -> Path | None:
        real = Path(os.path.realpath(self.base / self.path))
        return real if self.outside or real.is_relative_to(os.path.realpath(self.base)) else None


def split_glob(pattern: str) -> tuple[str, str]:
    """The folder before the first wildcard of ``pattern``, and the rest of the pattern."""
    steps = pattern.replace("\\", "/").split("/")
    wild = next((at for at, step in enumerate(steps) if set(step) & set("*?[")), len(steps) - 1)
    return "/".join(steps[:wild]) or ("/" if pattern.startswith("/") else "."), "/".join(steps[wild:])
