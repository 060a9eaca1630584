"""State on disk for its owner alone, reached through no link: folders of mode 0700, files of mode 0600.

What lies in a state folder may have come with a repository, also where the folder itself is ours. So nothing
here opens what git may have brought (see ``tracking``), nor follows a link, in any part of a path: each
folder is opened from the one above it by its descriptor (``O_NOFOLLOW``), and a file must be a regular one
with a single name. A pipe is not waited for, and a hard link to a file elsewhere is neither read nor written.
Where a system has no such calls (Windows), every part of the path is looked at first.

A path that a person named may lead through links: ``real_file`` gives the place that these functions take.
All of them raise ``OSError``.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from .tracking import check_untracked

_SIDE_FILES = ("-wal", "-shm", "-journal")

_CLOEXEC: int = getattr(os, "O_CLOEXEC", 0)
_NOFOLLOW: int = getattr(os, "O_NOFOLLOW", 0)
_BINARY: int = getattr(os, "O_BINARY", 0)
_FOLDER: int = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _NOFOLLOW | _CLOEXEC
_STEP: int = _FOLDER | getattr(os, "O_PATH", 0)
"""Flags to pass through a folder with, which perhaps cannot be listed."""
_FILE: int = _NOFOLLOW | _CLOEXEC | _BINARY | getattr(os, "O_NONBLOCK", 0)
_NO_LINK_AT_ALL: int = getattr(os, "O_NOFOLLOW_ANY", 0)
"""macOS refuses links in all parts of a path by one flag, and enters no folder that it cannot list."""
_HAS_DESCRIPTORS = os.open in os.supports_dir_fd and os.rename in os.supports_dir_fd
_TEMPORARY = re.compile(r"\.toolspan-[0-9a-f]{16}\.tmp")
_LEAST_AGE_S = 10.0
_FOLDER_AGE_S = 60.0
_UNLOCKED_AGE_S = 3_600.0
"""How old leftovers are at least: at all, a folder, and a file where there are no locks."""
_IN_THE_WAY = frozenset((errno.ELOOP, errno.ENOTDIR, errno.EMLINK))


def real_file(path: Path) -> Path:
    """The place of the file ``path``, which a person named: the links of its folder are followed now, and
    none afterwards."""
    return path.parent.resolve() / path.name


def make_folder(path: Path) -> None:
    """Make the folder ``path`` and its missing parents for their owner alone; one that is there stays as it
    is.

    Folders of state are made by ``folder.private_folder``, which knows whose they are.
    """
    with _opened(path.absolute(), make=True):
        return


def close_folder(path: Path) -> None:
    """Take the rights of others from the folder ``path``, if it is ours."""
    with _opened(path.absolute()) as folder:
        if folder is not None:
            _close_to_others(folder, 0o700)


def private_file(path: Path) -> Path:
    """``path``, for its owner alone; made empty if it is not there."""
    os.close(open_private(path, os.O_RDONLY | os.O_CREAT))
    return path


def private_database(path: Path) -> Path:
    """The SQLite file ``path``, as ``private_file``, with its write-ahead log and what else lies beside it.

    SQLite opens its files by their names and follows links; call this before each ``connect``. SQLite gives
    the files that it makes the mode of this one.
    """
    if stat_private(path) is None:
        private_file(path)
    return check_database(path)


def check_database(path: Path) -> Path:
    """The SQLite file ``path``, if it and what lies beside it are regular files, for their owner alone; it
    may be missing.

    None is opened: closing it would give back the locks that SQLite holds on it in this process.
    """
    for each in (path, *(path.with_name(path.name + suffix) for suffix in _SIDE_FILES)):
        with suppress(FileNotFoundError), _above(each) as (folder, name):
            found = os.stat(name, dir_fd=folder, follow_symlinks=False)
            _check(each, found)
            if _is_open_to_others(found):
                os.chmod(name, 0o600, dir_fd=folder)
    return path


def open_private(path: Path, flags: int) -> int:
    """A descriptor of the file ``path``, as ``os.open`` gives it, for its owner alone."""
    with _above(path) as (folder, name):
        descriptor = _open(path, name, flags & ~os.O_TRUNC | _FILE, folder)
    try:
        _check(path, os.fstat(descriptor))
        if flags & os.O_TRUNC:  # only now: it is no other file's content
            os.ftruncate(descriptor, 0)
        _close_to_others(descriptor, 0o600)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def reading(path: Path) -> BinaryIO:
    """The file ``path``, to be read."""
    return os.fdopen(open_private(path, os.O_RDONLY), "rb")


def read_private(path: Path, most: int = -1) -> bytes:
    """The content of the file ``path``, ``most`` bytes of it."""
    with reading(path) as file:
        return file.read(most)


def write_private(path: Path, data: bytes) -> None:
    """Put ``data`` at ``path`` in one step, in place of what is there: all of it, or nothing."""
    beside = path.with_name(temporary_name())
    descriptor = open_private(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        with os.fdopen(descriptor, "wb") as file:
            lock_file(descriptor)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        rename_private(beside, path)
    except BaseException:
        with suppress(OSError):
            remove_private(beside)
        raise
    sync_folder(path.parent)


def temporary_name() -> str:
    """A name for what takes the place of another file or folder soon; ``remove_leftovers`` knows it."""
    return f".toolspan-{os.urandom(8).hex()}.tmp"


def is_temporary(name: str) -> bool:
    """Whether ``temporary_name`` made such a name."""
    return _TEMPORARY.fullmatch(name) is not None


def remove_leftovers(folder: Path) -> int:
    """Remove the temporary files and folders that ended processes left in ``folder``; how many there were.

    A writer holds a lock on its file. One that can be locked, and is not made at this moment, has no writer.
    """
    removed = 0
    for path, found in _listed(folder, is_temporary):
        age = time.time() - found.st_mtime
        if age < _LEAST_AGE_S:
            continue
        with suppress(OSError):  # what cannot be removed stays
            if stat.S_ISDIR(found.st_mode) and age > _FOLDER_AGE_S:
                remove_tree(path)
                removed += 1
            elif stat.S_ISREG(found.st_mode) and _has_no_writer(path, age):
                remove_private(path)
                removed += 1
    return removed


def _has_no_writer(path: Path, age: float) -> bool:
    descriptor = open_private(path, os.O_RDWR)
    try:
        locked = lock_file(descriptor)
    finally:
        os.close(descriptor)
    return age > _UNLOCKED_AGE_S if locked is None else locked


def lock_file(descriptor: int) -> bool | None:
    """Lock what is open, without waiting, if nobody else has; whether it is locked now, ``None`` where the
    system or the disk has no such locks."""
    if sys.platform == "win32":
        return None
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def rename_private(path: Path, to: Path) -> None:
    """Rename ``path``, a link itself where it is one; what ``to`` names is replaced, not followed."""
    with _above(path) as (folder, name), _above(to) as (new_folder, new_name):
        os.replace(name, new_name, src_dir_fd=folder, dst_dir_fd=new_folder)


def remove_private(path: Path) -> None:
    """Remove the file ``path`` if it is there: a link itself, never what it leads to."""
    try:
        with _above(path) as (folder, name):
            os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        return


def remove_tree(path: Path) -> None:
    """Remove the folder ``path`` and all in it, if it is there. Links are removed, never entered."""
    import shutil

    found = stat_private(path)
    if found is None:
        return
    if not stat.S_ISDIR(found.st_mode):
        remove_private(path)
        return
    with _above(path) as (folder, name):
        shutil.rmtree(name, dir_fd=folder)  # by descriptors, where the system has them


def remove_empty(path: Path) -> None:
    """Remove the folder ``path`` if there is nothing in it."""
    with suppress(FileNotFoundError), _above(path) as (folder, name):
        try:
            os.rmdir(name, dir_fd=folder)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise


def stat_private(path: Path) -> os.stat_result | None:
    """What is at ``path``, a link itself where it is one; ``None`` where nothing is."""
    try:
        with _above(path) as (folder, name):
            return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except (FileNotFoundError, NotADirectoryError):
        return None


def is_private_file(path: Path) -> bool:
    """Whether there is a regular file at ``path``."""
    found = stat_private(path)
    return found is not None and stat.S_ISREG(found.st_mode)


def list_private(path: Path) -> list[tuple[Path, os.stat_result]]:
    """The regular files of the folder ``path`` with what is known of each; none where there is no folder.

    What is something else, as a link or a pipe, is passed over.
    """
    return [each for each in _listed(path) if stat.S_ISREG(each[1].st_mode)]


def list_folders(path: Path) -> list[Path]:
    """The folders in the folder ``path``; a link to one is passed over."""
    return [each for each, found in _listed(path) if stat.S_ISDIR(found.st_mode)]


def sync_folder(path: Path) -> None:
    """Make what was renamed in the folder ``path`` last through a power cut, where the system offers that."""
    with _opened(path.absolute()) as folder:
        if folder is not None:
            os.fsync(folder)


def _listed(
    path: Path, wanted: Callable[[str], bool] = lambda name: True
) -> list[tuple[Path, os.stat_result]]:
    listed: list[tuple[Path, os.stat_result]] = []
    try:
        with _opened(path.absolute()) as folder, os.scandir(path if folder is None else folder) as entries:
            for each in entries:
                if not wanted(each.name):
                    continue
                with suppress(FileNotFoundError):  # removed meanwhile
                    listed.append((path / each.name, each.stat(follow_symlinks=False)))
    except FileNotFoundError:
        return []
    return listed


@contextmanager
def _above(path: Path) -> Generator[tuple[int | None, str]]:
    """The folder of ``path``, to pass through, and what it is called there. Without descriptors of folders:
    ``None`` and the whole path, whose parts are no links."""
    absolute = path.absolute()
    check_untracked(absolute.parent)
    if not _HAS_DESCRIPTORS:
        _check_parts(absolute.parent)
        yield None, str(absolute)
        return
    folder = _walk(absolute.parent, _STEP)
    try:
        yield folder, absolute.name
    finally:
        os.close(folder)


@contextmanager
def _opened(path: Path, *, make: bool = False) -> Generator[int | None]:
    """The folder ``path``, to be listed; ``None`` without descriptors of folders."""
    if make:
        _make(path)
    check_untracked(path)
    if not _HAS_DESCRIPTORS:
        _check_parts(path)
        yield None
        return
    folder = _walk(path, _FOLDER)
    try:
        yield folder
    finally:
        os.close(folder)


def _walk(folder: Path, flags: int) -> int:
    if _NO_LINK_AT_ALL:
        try:
            return os.open(folder, _FOLDER & ~_NOFOLLOW | _NO_LINK_AT_ALL)
        except OSError as error:
            raise _explained(error, folder) from None
    parts = folder.parts[1:]
    reached = os.open(folder.anchor or "/", _STEP if parts else flags)
    try:
        for number, name in enumerate(parts, 1):
            try:
                following = os.open(name, flags if number == len(parts) else _STEP, dir_fd=reached)
            except OSError as error:
                raise _explained(error, Path(folder.anchor, *parts[:number]), name, reached) from None
            os.close(reached)
            reached = following
    except BaseException:
        os.close(reached)
        raise
    return reached


def _open(path: Path, name: str, flags: int, folder: int | None) -> int:
    try:
        return os.open(name, flags, 0o600, dir_fd=folder)
    except OSError as error:
        raise _explained(error, path, name, folder) from None


def _explained(error: OSError, path: Path, name: str = "", folder: int | None = None) -> OSError:
    """``error`` with the path, and as a link's where it is one that is in the way."""
    if error.errno in _IN_THE_WAY:
        with suppress(OSError):
            found = os.stat(name or path, dir_fd=folder if name else None, follow_symlinks=False)
            if stat.S_ISLNK(found.st_mode):
                return _link(path)
    return OSError(error.errno, error.strerror, str(path))


def _link(path: Path) -> OSError:
    return OSError(errno.ELOOP, "it is a link, and state is not kept through links: remove it", str(path))


def _check(path: Path, found: os.stat_result) -> None:
    if stat.S_ISLNK(found.st_mode):
        raise _link(path)
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file: remove it", str(path))
    if found.st_nlink > 1:
        raise OSError(
            errno.EMLINK, "it is a hard link, the same file as another: put a copy in its place", str(path)
        )


def _check_parts(path: Path) -> None:
    """Raise ``OSError`` where a part of ``path`` is a link, or what Windows calls a junction."""
    for part in (*reversed(path.parents), path):
        with suppress(FileNotFoundError):
            found = part.lstat()
            if stat.S_ISLNK(found.st_mode) or _is_junction(found):
                raise _link(part)


def _is_junction(found: os.stat_result) -> bool:
    return sys.platform == "win32" and bool(found.st_reparse_tag)


def _make(path: Path) -> None:
    try:
        with _above(path) as (folder, name):
            os.mkdir(name, 0o700, dir_fd=folder)
    except FileNotFoundError:
        if path == path.parent:
            raise
        _make(path.parent)
        with suppress(FileExistsError), _above(path) as (folder, name):
            os.mkdir(name, 0o700, dir_fd=folder)
    except FileExistsError:
        return  # what is no folder is told when it is opened


def _close_to_others(descriptor: int, mode: int) -> None:
    """Take the rights of others from what is open, if it is ours."""
    if sys.platform != "win32" and _is_open_to_others(os.fstat(descriptor)):
        os.fchmod(descriptor, mode)


def _is_open_to_others(found: os.stat_result) -> bool:
    if sys.platform == "win32":
        return False
    return found.st_uid == os.geteuid() and bool(stat.S_IMODE(found.st_mode) & 0o077)
