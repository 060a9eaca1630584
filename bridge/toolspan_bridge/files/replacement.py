"""Files put on disk whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

_NO_ROOM = frozenset((errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)))


def replace_file(path: Path, data: bytes, *, like: Path | None = None, mode: int = 0o600) -> None:
    """Put ``data`` at ``path`` in one step, with the permissions of ``like`` (``path`` itself by default), or
    ``mode``, the owner's alone, if there is no such file yet. Raises ``OSError``, and then nothing is
    changed."""
    from tempfile import mkstemp

    like = like or path
    mode = stat.S_IMODE(like.stat().st_mode) if like.exists() else mode
    descriptor, name = mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(mode)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def why_not_written(error: OSError) -> str:
    """What to say of a file that could not be replaced: the reason, what to do, and that nothing is lost."""
    reason = error.strerror or str(error)
    remedy = "make room" if error.errno in _NO_ROOM else "check the permissions of the file and its folder"
    return f"cannot be written: {reason} ({remedy}, then try again; what was there is unchanged)"


def why_locked(seconds: float) -> str:
    """What to say of a file that another process has locked for ``seconds``."""
    return f"has been locked by another process for {seconds:g} s (end that process, or try again)"
