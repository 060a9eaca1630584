"""Putting a change on disk: whole or not at all, with what was there before beside it."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

from ..errors import UsageError
from ._changes import Change


def apply(change: Change) -> Path | None:
    """Write ``change``; the backup of what was there before, if there was anything.

    A symbolic link stays one: the file behind it is replaced. Raises ``UsageError`` when it cannot be
    written, or is not what it was when the change was planned.
    """
    target = change.path.resolve()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        now = target.read_bytes() if target.exists() else None
        if now != (None if change.before is None else change.before.encode()):
            raise UsageError(f"{change.path} was changed meanwhile: run this again")
        backup = None
        if now is not None:
            backup = target.with_name(target.name + ".toolspan.bak")
            _replace(backup, now, target)
        _replace(target, change.after.encode(), target)
    except OSError as fault:
        raise UsageError(f"{change.path} cannot be written: {fault.strerror}") from None
    return backup


def _replace(path: Path, data: bytes, like: Path) -> None:
    """Put ``data`` at ``path`` in one step, with the permissions of ``like``; the owner's alone if new."""
    mode = stat.S_IMODE(like.stat().st_mode) if like.exists() else 0o600
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
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
