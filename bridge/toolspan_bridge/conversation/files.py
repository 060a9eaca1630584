"""Files that came within a conversation, kept beside it for its owner alone."""

from __future__ import annotations

import os
import re
from pathlib import Path

from toolspan_server.common.state.folder import private_folder
from toolspan_server.common.state.private_files import list_private, open_private, remove_private

from ..errors import StoreError

__all__ = ["MOST_BYTES", "MOST_FILES", "bytes_beside", "files_beside", "keep_file"]

MOST_FILES = 100
MOST_BYTES = 100 * 1024 * 1024
_LONGEST_NAME = 40


def files_beside(path: Path) -> Path:
    """The folder for the files of the conversation that is kept in ``path``."""
    return path.with_name(f"{path.name}.files")


def bytes_beside(path: Path) -> int:
    """The bytes of the files of the conversation in ``path``; 0 where there are none."""
    try:
        return sum(found.st_size for _, found in list_private(files_beside(path)))
    except OSError:
        return 0


def keep_file(folder: Path, name: str, suffix: str, data: bytes) -> Path:
    """Write ``data`` as another file of ``folder``, ``NUMBER-NAME`` with ``suffix``; returns it.

    No file that is there is written to. Raises ``StoreError`` where the folder has as many files or bytes as
    a conversation keeps, and where it cannot be written.
    """
    try:
        private_folder(folder)
        sizes = [found.st_size for _, found in list_private(folder)]
        if len(sizes) >= MOST_FILES or sum(sizes) + len(data) > MOST_BYTES:
            raise StoreError(f"{folder} is full: {MOST_FILES} files and {MOST_BYTES:,} bytes are kept")
        path, descriptor = _made(folder, len(sizes) + 1, re.sub(r"[^A-Za-z0-9_-]", "_", name), suffix)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
        except OSError:
            remove_private(path)
            raise
    except OSError as fault:
        raise StoreError(f"{folder} cannot be written: {fault.strerror}") from None
    return path


def _made(folder: Path, number: int, name: str, suffix: str) -> tuple[Path, int]:
    while True:
        path = folder / f"{number}-{name[:_LONGEST_NAME]}{suffix}"
        try:
            return path, open_private(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        except FileExistsError:
            number += 1
