"""Regular files, opened beneath a root for reading."""

from __future__ import annotations

import os
import stat
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from .beneath import open_beneath
from .errors import failure_of, not_regular
from .paths import Place

READING = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
"""Flags to open a file for reading with: a FIFO or a terminal keeps nobody waiting."""

_SORTS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
_PSEUDO = ("/proc", "/sys", "/dev")


@dataclass(frozen=True, slots=True)
class OpenFile:
    """A regular file that is open for reading, and what it was when it was opened."""

    descriptor: int
    place: Place
    found: os.stat_result

    @property
    def size(self) -> int:
        """Its size in bytes."""
        return self.found.st_size

    def read(self, offset: int, length: int) -> bytes:
        """At most ``length`` bytes from ``offset`` on; fewer only at the end. Raises ``ToolFailure``."""
        pieces: list[bytes] = []
        while length > 0:
            try:
                piece = os.pread(self.descriptor, length, offset)
            except OSError as error:
                raise failure_of(error, self.place.path) from None
            if not piece:
                break
            pieces.append(piece)
            offset += len(piece)
            length -= len(piece)
        return b"".join(pieces)


@contextmanager
def opened(root: int, place: Place, *, follow: bool = True) -> Generator[OpenFile]:
    """The regular file at ``place`` beneath the descriptor ``root``.

    Without ``follow`` it may not be a link itself. Raises ``ToolFailure``.
    """
    nofollow = 0 if follow else getattr(os, "O_NOFOLLOW", 0)
    try:
        descriptor = open_beneath(root, place.parts, READING | nofollow)
    except OSError as error:
        raise failure_of(error, place.path) from None
    try:
        found = os.fstat(descriptor)
        if (what := irregular(found)) is not None:
            raise not_regular(place.path, what)
        yield OpenFile(descriptor, place, found)
    finally:
        os.close(descriptor)


def irregular(found: os.stat_result) -> str | None:
    """What it is, where it is no regular file on a disk; else ``None``."""
    if not stat.S_ISREG(found.st_mode):
        return _SORTS.get(stat.S_IFMT(found.st_mode), "something special")
    return "a file of the kernel" if found.st_dev in _pseudo_devices() else None


@cache
def _pseudo_devices() -> frozenset[int]:
    """The devices of file systems in which files are the kernel's own."""
    return frozenset(path.stat().st_dev for path in map(Path, _PSEUDO) if path.is_mount())
