"""State on disk for its owner alone: folders of mode 0700, files of mode 0600, whatever the umask."""

from __future__ import annotations

import os
import stat
from pathlib import Path

STATE_FOLDER = ".toolspan"
STORAGE_FOLDER = "storage"
"""The folder of what tools store, in the state folder."""
_SIDE_FILES = ("-wal", "-shm", "-journal")


def private_folder(path: Path) -> Path:
    """``path``, made with its missing parents for their owner alone.

    One that is there is corrected if it is the default state folder or lies in it. Any other folder is a
    person's own choice, perhaps shared with other work, and stays as it is: what we put in it is private by
    itself. Raises ``OSError``.
    """
    _make(path)
    for folder in _of_ours(path):
        _close_to_others(folder, 0o700)
    return path


def private_file(path: Path) -> Path:
    """``path``, for its owner alone; made empty if it is not there. Raises ``OSError``."""
    os.close(open_private(path, os.O_RDONLY | os.O_CREAT | getattr(os, "O_NONBLOCK", 0)))
    return path


def private_database(path: Path) -> Path:
    """The SQLite file ``path``, as ``private_file``, with its write-ahead log and what else lies beside it.

    SQLite gives the files that it makes the mode of this one.
    """
    private_file(path)
    for suffix in _SIDE_FILES:
        _close_to_others(path.with_name(path.name + suffix), 0o600)
    return path


def open_private(path: Path, flags: int) -> int:
    """A descriptor of the file ``path``, as ``os.open`` gives it, for its owner alone. Raises ``OSError``."""
    descriptor = os.open(path, flags | getattr(os, "O_CLOEXEC", 0), 0o600)
    try:
        _close_to_others(path, 0o600)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _make(path: Path) -> None:
    try:
        path.mkdir(mode=0o700)
    except FileNotFoundError:
        _make(path.parent)
        path.mkdir(mode=0o700, exist_ok=True)
    except FileExistsError:
        if not path.is_dir():
            raise


def _of_ours(path: Path) -> list[Path]:
    """``path`` and its parents up to the default state folder; nothing outside of one."""
    absolute = path.absolute()
    chain = [absolute, *absolute.parents]
    names = [folder.name for folder in chain]
    return chain[: names.index(STATE_FOLDER) + 1] if STATE_FOLDER in names else []


def _close_to_others(path: Path, mode: int) -> None:
    """Take the rights of others from ``path`` if it is ours and no link to something elsewhere."""
    if os.name != "posix":
        return
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    if stat.S_ISLNK(found.st_mode) or found.st_uid != os.geteuid():
        return
    if stat.S_IMODE(found.st_mode) & 0o077:
        path.chmod(mode)
