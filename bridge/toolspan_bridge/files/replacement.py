"""Files put on disk whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import IO

_NO_ROOM = frozenset((errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)))


def place_within(folder: Path, path: Path) -> Path:
    """Where a file that is written is: ``path``, in ``folder``, with links followed.

    The folder may have come from somebody else, who put a link there. Raises ``OSError`` for one that leads
    out of the folder, and for what is there and is not a regular file.
    """
    try:
        root, place = folder.resolve(), (folder / path).resolve()
    except RuntimeError:
        raise OSError(errno.ELOOP, "it is a circle of links: remove it", str(path)) from None
    if not place.is_relative_to(root):
        why = f"it leads out of {root} through a link, to {place}: remove the link"
        raise OSError(errno.ELOOP, why, str(path))
    if place.exists() and not (place.is_file() or place.is_dir()):
        raise OSError(errno.EINVAL, "it is not a regular file: remove it", str(path))
    return place


def replace_file(path: Path, data: bytes, *, like: Path | None = None, mode: int = 0o600) -> None:
    """Put ``data`` at ``path`` in one step, with the permissions of ``like`` (``path`` itself by default), or
    ``mode``, the owner's alone, if there is no such file yet. Raises ``OSError``, and then nothing is
    changed."""
    with _replacing(path, like or path, mode) as file:
        file.write(data)


def write_pieces(path: Path, pieces: Iterable[str]) -> None:
    """Put the text of ``pieces`` at ``path`` whole, or leave what is there; a new file has the permissions
    that the process gives to new ones. What is no file, as a pipe or a device, gets the pieces as they come.
    Raises ``OSError``, and what ``pieces`` raises."""
    encoded = (piece.encode("utf-8", "backslashreplace") for piece in pieces)
    if path.exists() and not path.is_file():
        with path.open("wb") as there:
            there.writelines(encoded)
        return
    place = path.resolve()  # a link stays a link
    with _replacing(place, place, None) as file:
        file.writelines(encoded)


@contextmanager
def _replacing(path: Path, like: Path, mode: int | None) -> Generator[IO[bytes]]:
    """A file that takes the place of ``path`` when the block has ended, and is removed when it fails."""
    mode = stat.S_IMODE(like.stat().st_mode) if like.exists() else mode
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    created = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0)
    descriptor = os.open(fresh, created, 0o666 if mode is None else 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            fresh.chmod(mode)
        fresh.replace(path)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise


def why_not_written(error: OSError) -> str:
    """What to say of a file that could not be replaced: the reason, what to do, and that nothing is lost."""
    reason = error.strerror or str(error)
    remedy = "make room" if error.errno in _NO_ROOM else "check the permissions of the file and its folder"
    return f"cannot be written: {reason} ({remedy}, then try again; what was there is unchanged)"


def why_locked(seconds: float) -> str:
    """What to say of a file that another process has locked for ``seconds``."""
    return f"has been locked by another process for {seconds:g} s (end that process, or try again)"
