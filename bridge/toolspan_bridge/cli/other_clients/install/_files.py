"""Putting a change on disk: whole or not at all, with what was there before beside it."""

from __future__ import annotations

import os
from pathlib import Path

from ....errors import UsageError
from ....files.replacement import replace_file
from ._changes import FileChange

_MOST_BACKUPS = 1_000


def apply(change: FileChange, *, keep: bool = True) -> Path | None:
    """Write ``change``; the backup of what was there before, if there was anything, and it is to be kept.

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
        if now is not None and keep:
            backup = _backup(target, now)
        replace_file(target, change.after.encode())
    except OSError as fault:
        raise UsageError(f"{change.path} cannot be written: {fault.strerror}") from None
    return backup


def _backup(target: Path, content: bytes) -> Path:
    """The file beside ``target`` that keeps ``content``: one of before that does, else a new one. None is
    ever written over, so that the first has what was there before anything of ours."""
    for number in range(_MOST_BACKUPS):
        path = target.with_name(f"{target.name}.toolspan.bak{f'.{number}' if number else ''}")
        if not os.path.lexists(path):
            replace_file(path, content, like=target)
            return path
        if path.is_file() and path.read_bytes() == content:
            return path
    raise UsageError(f"{target} has {_MOST_BACKUPS} backups (….toolspan.bak): remove those you do not need")
