"""Opens paths beneath a folder, by its descriptor: links and races included, nothing leads out of it.

Linux has a system call for that (``openat2`` with ``RESOLVE_BENEATH``, since 5.6). Elsewhere, and where it is
not allowed, each folder is opened from the one above without following links, and links are followed by hand.
Both refuse the same: links to absolute paths, and what leads above the folder. They raise ``OSError``, with
``EXDEV`` for these.
"""

from __future__ import annotations

import errno
import os
import sys
from collections import deque
from collections.abc import Sequence
from functools import cache
from typing import Any

_OPENAT2 = 437
_RESOLVE_NO_MAGICLINKS = 0x02
_RESOLVE_BENEATH = 0x08
_MOST_LINKS = 40
_RETRIES = 100
_LINK_ERRORS = frozenset((errno.ELOOP, errno.ENOTDIR, errno.EMLINK))
_UNAVAILABLE = frozenset((errno.ENOSYS, errno.EPERM, errno.EINVAL))

FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
"""Flags to open a folder with."""

PATH_ONLY: int = getattr(os, "O_PATH", os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
"""Flags to open with what is not read, only looked at: a device or a FIFO is not touched by that."""

_NOFOLLOW: int = getattr(os, "O_NOFOLLOW", 0)


def open_beneath(root: int, parts: Sequence[str], flags: int) -> int:
    """A descriptor of the path ``parts`` beneath the folder ``root``, a descriptor too.

    With ``O_NOFOLLOW`` in ``flags`` the last part may not be a link (``ELOOP``); links before it are followed
    as long as they stay beneath. Raises ``OSError``.
    """
    flags |= getattr(os, "O_CLOEXEC", 0)
    return _by_kernel(root, parts, flags) if has_openat2() else walk_beneath(root, parts, flags)


@cache
def has_openat2() -> bool:
    """Whether the kernel has ``openat2`` and lets this process call it."""
    if not sys.platform.startswith("linux"):
        return False
    here = os.open("/", FOLDER)
    try:
        os.close(_openat2(here, b".", FOLDER))
    except OSError as error:
        if error.errno in _UNAVAILABLE:
            return False
        raise
    finally:
        os.close(here)
    return True


def _by_kernel(root: int, parts: Sequence[str], flags: int) -> int:
    path = os.fsencode("/".join(parts) or ".")
    for _ in range(_RETRIES):
        try:
            return _openat2(root, path, flags)
        except OSError as error:
            # EAGAIN: a rename anywhere made the kernel unsure whether ".." of a link stayed beneath.
            if error.errno not in (errno.EAGAIN, errno.EINTR):
                raise
    return walk_beneath(root, parts, flags)


def _openat2(root: int, path: bytes, flags: int) -> int:
    import ctypes

    how = (ctypes.c_uint64 * 3)(flags, 0, _RESOLVE_BENEATH | _RESOLVE_NO_MAGICLINKS)
    opened: int = _libc().syscall(_OPENAT2, root, path, how, ctypes.sizeof(how))
    if opened < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return opened


@cache
def _libc() -> Any:
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    libc.syscall.argtypes = [
        ctypes.c_long,
        ctypes.c_int,
        ctypes.c_char_p,
        ctypes.c_void_p,
        ctypes.c_size_t,
    ]
    return libc


def walk_beneath(root: int, parts: Sequence[str], flags: int) -> int:
    """``open_beneath`` without ``openat2``."""
    walk = _Walk(root, parts)
    try:
        return walk.open(flags)
    finally:
        walk.close()


class _Walk:
    """The folders from ``root`` on that were opened so far, the deepest last, and the parts still to go."""

    def __init__(self, root: int, parts: Sequence[str]) -> None:
        self._folders = [os.open(".", FOLDER, dir_fd=root)]
        self._parts = deque(parts)
        self._links = 0

    def close(self) -> None:
        for folder in self._folders:
            os.close(folder)

    def open(self, flags: int) -> int:
        while self._parts:
            name = self._parts.popleft()
            if name == "..":
                self._ascend()
            elif name not in ("", "."):
                last = not self._parts
                opened = self._step(name, flags if last else FOLDER, follow=not (last and flags & _NOFOLLOW))
                if opened is not None and last:
                    return opened
                if opened is not None:
                    self._folders.append(opened)
        return os.open(".", flags & ~_NOFOLLOW, dir_fd=self._folders[-1])

    def _ascend(self) -> None:
        if len(self._folders) == 1:
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
        os.close(self._folders.pop())

    def _step(self, name: str, flags: int, *, follow: bool) -> int | None:
        """A descriptor of ``name`` in the deepest folder; ``None``: it is a link, whose parts come next."""
        try:
            return os.open(name, flags | _NOFOLLOW, dir_fd=self._folders[-1])
        except OSError as error:
            if error.errno not in _LINK_ERRORS or not follow:
                raise
            self._follow(name, error)
            return None

    def _follow(self, name: str, error: OSError) -> None:
        try:
            target = os.readlink(name, dir_fd=self._folders[-1])
        except OSError:
            raise error from None
        self._links += 1
        if self._links > _MOST_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        if target.startswith("/"):
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
        self._parts.extendleft(reversed(target.split("/")))
