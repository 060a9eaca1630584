"""Putting a change on disk: whole or not at all, with what was there before beside it."""

from __future__ import annotations

from pathlib import Path

from .._files import replace_file
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
            replace_file(backup, now, like=target)
        replace_file(target, change.after.encode())
    except OSError as fault:
        raise UsageError(f"{change.path} cannot be written: {fault.strerror}") from None
    return backup
