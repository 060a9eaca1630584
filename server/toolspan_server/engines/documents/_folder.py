"""The files of a collection's folder, and their bytes, read so that no file can do harm."""

from __future__ import annotations

import logging
import os
import stat
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Event

from ._document import UnreadableFile
from ._globs import Selection

MOST_FILES = 20_000
"""The most files of one collection; what comes after, in order of names, is left out with a warning."""

MOST_ENTRIES = 500_000
"""The most files and folders looked at in one collection's folder, whether they belong to it or not."""

_MOST_REPORTED = 10
_UNSETTLED_SECONDS = 2.0
_OPEN_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_FOLDER_FLAGS = (
    getattr(os, "O_PATH", os.O_RDONLY)
    | getattr(os, "O_DIRECTORY", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Entry:
    """A file that belongs to a collection.

    ``path`` is relative, with ``/``. ``stamp`` is equal only while the file is unchanged, and empty
    when the file is so fresh that another change might leave it as it is.
    """

    path: str
    stamp: str


class DocumentFolder:
    """The folder ``root`` of the collection ``name``, seen through ``selection``."""

    def __init__(self, name: str, root: Path, selection: Selection) -> None:
        self.name = name
        self.root = root
        self.selection = selection
        self._withheld: list[str] = []

    def identity(self) -> tuple[int, int] | None:
        """The identity of this folder, to notice its replacement; ``None`` when it does not exist."""
        try:
            found = self.root.stat()
        except OSError:
            return None
        return (found.st_dev, found.st_ino) if stat.S_ISDIR(found.st_mode) else None

    def relevant(self, path: str) -> str | None:
        """The relative path of ``path``, which has changed, if that can matter to the collection."""
        relative = Path(os.path.relpath(path, self.root)).as_posix()
        if relative.startswith("../") or not self.selection.reaches(relative):
            return None
        return relative if self.selection.selects(relative) or not Path(path).is_file() else None

    def entries(self, skip: Callable[[str, str], None], stop: Event) -> Iterator[Entry]:
        """The files that belong to the collection, in order, until ``stop`` is set.

        ``skip(path, reason)`` is called for each one left out.
        """
        root = Path(os.path.realpath(self.root))
        for count, path in enumerate(self._paths(root, stop)):
            if count == MOST_FILES:
                _log.warning("collection %r: only the first %d files are searched", self.name, MOST_FILES)
                return
            try:
                status = (root / path).lstat()
                if stat.S_ISLNK(status.st_mode):
                    status = _inside(root, path).stat()
                if not stat.S_ISREG(status.st_mode):
                    raise UnreadableFile("not a regular file")
            except UnreadableFile as reason:
                skip(path, str(reason))
            except OSError as error:
                skip(path, error.strerror or str(error))
            else:
                yield Entry(path, _stamp(status))

    def read(self, path: str, limit: int) -> bytes:
        """The bytes of the file ``path``.

        Raises ``UnreadableFile`` unless it is a regular file inside the folder with at most ``limit`` bytes.
        """
        try:
            descriptor = _opened(Path(os.path.realpath(self.root)), path)
            try:
                data = _content(descriptor, limit)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise UnreadableFile(error.strerror or str(error)) from None
        return data

    def _paths(self, root: Path, stop: Event) -> Iterator[str]:
        entries = 0
        withheld: list[str] = []
        for folder, folders, files in os.walk(root, followlinks=False, onerror=self._unlistable):
            if stop.is_set():
                return
            entries += len(folders) + len(files)
            if entries > MOST_ENTRIES:
                _log.warning(
                    "collection %r: only %d entries of its folder are searched", self.name, MOST_ENTRIES
                )
                return
            prefix = (Path(folder).relative_to(root).as_posix() + "/").removeprefix("./")
            withheld += [f"{prefix}{name}/" for name in folders if self._withholds_folder(prefix + name)]
            withheld += [prefix + name for name in files if self.selection.withholds(prefix + name)]
            folders[:] = sorted(name for name in folders if self.selection.enters(prefix + name))
            yield from (path for name in sorted(files) if self.selection.selects(path := prefix + name))
        self._tell_withheld(sorted(withheld))

    def _withholds_folder(self, path: str) -> bool:
        return not self.selection.enters(path) and not self.selection.excludes(path)

    def _tell_withheld(self, paths: list[str]) -> None:
        """Say, once for each outcome, which hidden files and files of keys are left out."""
        if paths == self._withheld:
            return
        self._withheld = paths
        if paths:
            more = f" and {len(paths) - _MOST_REPORTED:,} more" if len(paths) > _MOST_REPORTED else ""
            names = ", ".join(shown(path) for path in paths[:_MOST_REPORTED])
            _log.warning(
                "%r: left out %s%s: hidden, or keys by their names (a pattern that names them takes them)",
                self.name,
                names,
                more,
            )

    def _unlistable(self, error: OSError) -> None:
        _log.warning(
            "collection %r: cannot list %s: %s", self.name, shown(str(error.filename)), error.strerror
        )


def shown(path: str) -> str:
    """``path`` as text: bytes that are not UTF-8 as ``\\xff``, a backslash of the name itself as two."""
    return os.fsencode(path.replace("\\", "\\\\")).decode("utf-8", "backslashreplace")


def _inside(root: Path, path: str) -> Path:
    real = Path(os.path.realpath(root / path))
    if not real.is_relative_to(root):
        raise UnreadableFile("a link that leaves the collection's folder")
    return real


def _opened(root: Path, path: str) -> int:
    """The file, opened folder by folder: one that is replaced by a link meanwhile leads nowhere."""
    real = _inside(root, path)
    if os.open not in os.supports_dir_fd:
        return os.open(real, _OPEN_FLAGS)
    *folders, name = real.relative_to(root).parts or (".",)
    within = os.open(root, _FOLDER_FLAGS)
    try:
        for folder in folders:
            inner = os.open(folder, _FOLDER_FLAGS, dir_fd=within)
            os.close(within)
            within = inner
        return os.open(name, _OPEN_FLAGS, dir_fd=within)
    finally:
        os.close(within)


def _stamp(status: os.stat_result) -> str:
    if time.time() - status.st_ctime < _UNSETTLED_SECONDS:
        return ""
    return f"{status.st_size}:{status.st_mtime_ns}:{status.st_ctime_ns}:{status.st_ino}"


def _content(descriptor: int, limit: int) -> bytes:
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise UnreadableFile("not a regular file")
    data = bytearray()
    while max(status.st_size, len(data)) <= limit:
        piece = os.read(descriptor, limit + 1 - len(data))
        if not piece:
            return bytes(data)
        data += piece
    raise UnreadableFile(f"larger than {limit // 1024} KiB")
