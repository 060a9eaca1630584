"""The files of a config, and whether they have changed since it was loaded."""

from __future__ import annotations

import stat
import time
from collections.abc import Sequence
from pathlib import Path

from .config import Config, load_config

_FRESH_NS = 2_000_000_000

Marks = tuple[object, ...]


class ConfigFiles:
    """The files of a config, as they were when it was loaded, and as they are now."""

    def __init__(self, paths: Sequence[Path], *, skip_invalid: bool = False) -> None:
        self._paths = tuple(paths)
        self._skip_invalid = skip_invalid
        self._marks: Marks = ()
        self._contents: Marks = ()

    def load(self) -> Config:
        """The config. Raises ``ConfigError``."""
        self._note()
        return load_config(*self._paths, skip_invalid=self._skip_invalid)

    def changed(self) -> bool:
        """Whether what the files hold is something else than when it was loaded.

        Their sizes and times tell, save when they are of this moment: those may be of two changes.
        """
        marks = tuple(map(_mark, self._paths))
        if marks == self._marks and not any(_is_fresh(mark) for mark in marks):
            return False
        before, contents = self._contents, tuple(map(_content, self._paths))
        self._marks = marks
        return contents != before

    def contents(self) -> Marks:
        """Something that is equal while the files hold the same."""
        return tuple(map(_content, self._paths))

    def _note(self) -> None:
        self._marks = tuple(map(_mark, self._paths))
        self._contents = self.contents()


def _mark(path: Path) -> tuple[int, ...] | None:
    try:
        now = path.stat()
    except OSError:
        return None
    if not stat.S_ISREG(now.st_mode):
        return ()
    return (now.st_dev, now.st_ino, now.st_size, now.st_mtime_ns, now.st_ctime_ns)


def _is_fresh(mark: tuple[int, ...] | None) -> bool:
    return mark is not None and mark != () and time.time_ns() - max(mark[3:]) < _FRESH_NS


def _content(path: Path) -> object:
    """Something that tells one content of a file from another; the same for everything but files."""
    if _mark(path) == ():
        return ""
    try:
        data = path.read_bytes()
    except OSError as error:
        return type(error)
    return len(data), hash(data)
