"""Files that somebody else may have put there, opened without waiting for anything.

A pipe, a device or a socket in the place of a file is refused, not waited for: what is opened is looked at by
its descriptor, so that nothing can be exchanged in between. Links are followed: whoever calls decides where
a path may lead.
"""

from __future__ import annotations

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path

_FLAGS: int = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


class NotRegularError(OSError):
    """A pipe, a device or a socket is in the place of a file."""


def open_regular(path: str | Path) -> BufferedReader:
    """The regular file ``path``, to be read. Raises ``OSError``, also for what is no regular file, and
    ``ValueError`` for what is no path."""
    descriptor = os.open(path, _FLAGS)
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise OSError(errno.EISDIR, "Is a directory", str(path))
        if not stat.S_ISREG(mode):
            raise NotRegularError(errno.EINVAL, "Not a regular file", str(path))
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_regular(path: str | Path, most: int) -> bytes:
    """The content of the regular file ``path``. Raises ``OSError``, also for one of more than ``most`` bytes,
    and ``ValueError``."""
    with open_regular(path) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, f"Larger than {most:,} bytes", str(path))
    return data
