"""Changes of files: one at a time, whole or not at all, and only of what may be changed."""

from __future__ import annotations

import errno
import os
import stat
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from ....common.state.private_files import is_temporary, temporary_name
from ....errors import ToolFailure
from .._limits import WorkspaceLimits
from ..opening.beneath import FOLDER, open_beneath
from ..opening.errors import failure_of, not_regular, too_large
from ..opening.files import READING, OpenFile, irregular
from ..opening.paths import Place

_NOFOLLOW: int = getattr(os, "O_NOFOLLOW", 0)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW | getattr(os, "O_CLOEXEC", 0)
_LOCK_S = 5.0
_TRY_EVERY_S = 0.01
_NO_LOCKS = frozenset((errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL))


@dataclass(slots=True)
class Target:
    """A file that is being changed: ``before`` is its content, ``None`` where there is none yet.

    ``folder`` is a descriptor of its folder, in which no other change of a workspace's file runs meanwhile.
    """

    place: Place
    folder: int
    before: bytes | None
    found: os.stat_result | None

    @property
    def name(self) -> str:
        """Its name in the folder."""
        return self.place.parts[-1]

    def replace(self, data: bytes) -> None:
        """Let the file hold ``data``: all of it, or, after any failure, what it held. Raises ``ToolFailure``.

        The mode stays, and the owner as far as the process may set it.
        """
        temporary = temporary_name()
        try:
            descriptor = os.open(temporary, _NEW, 0o666, dir_fd=self.folder)
            try:
                self._fill(descriptor, data)
                os.rename(temporary, self.name, src_dir_fd=self.folder, dst_dir_fd=self.folder)
            except BaseException:
                os.unlink(temporary, dir_fd=self.folder)
                raise
            finally:
                os.close(descriptor)
            os.fsync(self.folder)
        except OSError as error:
            raise failure_of(error, self.place.path) from None

    def remove(self) -> None:
        """Remove the file. Raises ``ToolFailure``."""
        try:
            os.unlink(self.name, dir_fd=self.folder)
            os.fsync(self.folder)
        except OSError as error:
            raise failure_of(error, self.place.path) from None

    def _fill(self, descriptor: int, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        if self.found is not None:
            with suppress(PermissionError):
                os.fchown(descriptor, self.found.st_uid, self.found.st_gid)
            os.fchmod(descriptor, stat.S_IMODE(self.found.st_mode))
        os.fsync(descriptor)


@contextmanager
def target_at(
    root: int, place: Place, limits: WorkspaceLimits, *, make_folders: bool = False
) -> Generator[Target]:
    """The file at ``place`` beneath the descriptor ``root``, to be changed in the block.

    Raises ``ToolFailure`` for what may not be changed: no regular file, a link, one with several names, a
    file that is read-only, or larger than ``limits.file_bytes``; and when another change takes too long.
    """
    if not place.parts:
        raise not_regular(place.path, "a folder")
    try:
        folder = _folder(root, place.parts[:-1], make=make_folders)
    except OSError as error:
        raise failure_of(error, place.path) from None
    try:
        _lock(folder, place)
        before, found = _content(folder, place, limits)
        yield Target(place, folder, before, found)
    finally:
        os.close(folder)


def remove_leftovers(folder: int) -> int:
    """Remove what ended processes left of files that they were replacing in ``folder``, a descriptor; how
    many there were. A folder in which a change runs is left alone: it is locked."""
    if not _try_lock(folder):
        return 0
    with os.scandir(folder) as entries:
        names = [
            each.name for each in entries if is_temporary(each.name) and each.is_file(follow_symlinks=False)
        ]
    for name in names:
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)
    return len(names)


def _try_lock(folder: int) -> bool:
    """Lock ``folder``, without waiting, until its descriptor is closed."""
    if sys.platform == "win32":
        return False
    import fcntl

    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _folder(root: int, parts: tuple[str, ...], *, make: bool) -> int:
    try:
        return open_beneath(root, parts, FOLDER)
    except FileNotFoundError:
        if not make:
            raise
    for end in range(1, len(parts) + 1):
        above = open_beneath(root, parts[: end - 1], FOLDER)
        try:
            with suppress(FileExistsError):
                os.mkdir(parts[end - 1], dir_fd=above)
        finally:
            os.close(above)
    return open_beneath(root, parts, FOLDER)


def _lock(folder: int, place: Place) -> None:
    """Wait until no other change runs in ``folder``, in any process; closing the descriptor ends ours."""
    if sys.platform == "win32":
        return
    import fcntl

    ends = time.monotonic() + _LOCK_S
    while True:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except OSError as error:
            if error.errno in _NO_LOCKS:
                return
            if error.errno not in (errno.EWOULDBLOCK, errno.EINTR):
                raise failure_of(error, place.path) from None
        if time.monotonic() > ends:
            raise ToolFailure(
                f"{place.shown} was not changed: another program holds its folder",
                error_code="busy",
                user_action="Try again later.",
            )
        time.sleep(_TRY_EVERY_S)


def _content(
    folder: int, place: Place, limits: WorkspaceLimits
) -> tuple[bytes | None, os.stat_result | None]:
    try:
        descriptor = os.open(place.parts[-1], READING | _NOFOLLOW, dir_fd=folder)
    except FileNotFoundError:
        return None, None
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK):
            raise _is_link(place) from None
        raise failure_of(error, place.path) from None
    try:
        file = OpenFile(descriptor, place, os.fstat(descriptor))
        _check(place, file.found, limits)
        data = file.read(0, limits.file_bytes + 1)
    finally:
        os.close(descriptor)
    if len(data) > limits.file_bytes:
        raise too_large(place.path, len(data), "limits.file_bytes", limits.file_bytes)
    return data, file.found


def _check(place: Place, found: os.stat_result, limits: WorkspaceLimits) -> None:
    if (what := irregular(found)) is not None:
        raise not_regular(place.path, what)
    if found.st_nlink > 1:
        raise ToolFailure(
            f"{place.shown} has {found.st_nlink} names (hard links), and would lose the others",
            error_code="hard_link",
            user_action="Ask the person to copy the file first.",
        )
    if not found.st_mode & 0o222:
        raise ToolFailure(
            f"{place.shown} is read-only",
            error_code="permission_denied",
            user_action="Ask the person to make it writable.",
        )
    if found.st_size > limits.file_bytes:
        raise too_large(place.path, found.st_size, "limits.file_bytes", limits.file_bytes)


def _is_link(place: Place) -> ToolFailure:
    return ToolFailure(
        f"{place.shown} is a symbolic link, through which nothing is written",
        error_code="symbolic_link",
        user_action="Write to the file that it leads to, if that is inside the workspace.",
    )
