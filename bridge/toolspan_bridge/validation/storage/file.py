"""The file under a store in SQLite: how it is opened, whose it is, and how it is set aside when damaged."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from toolspan_server.common.state.private_files import (
    check_database,
    list_private,
    private_file,
    remove_private,
    rename_private,
    sync_folder,
)

from ...errors import StoreError

__all__ = [
    "APPLICATION_ID",
    "BUSY_SECONDS",
    "SCHEMA_VERSION",
    "SIDE_FILES",
    "STORE_FILE",
    "mark_suspect",
    "newer",
    "opened",
    "refuse_other",
    "set_aside",
    "set_aside_notices",
    "sibling",
    "suspicion",
]

STORE_FILE = "validation.sqlite3"
"""The name of a store's file where no other is chosen."""
SCHEMA_VERSION = 4
BUSY_SECONDS = 10.0
APPLICATION_ID = 0x746F6F6C  # "tool"
SIDE_FILES = ("", "-wal", "-shm", "-journal")


def opened(path: Path, mode: str) -> sqlite3.Connection:
    """A connection to ``path``; ``mode`` is ``ro``, ``ro&immutable=1`` or ``rw``.

    Raises ``sqlite3.Error``, and ``OSError`` where it is not a regular file.
    """
    check_database(path)
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    return sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)


def refuse_other(path: Path, connection: sqlite3.Connection) -> int:
    """The version of the store. Raises ``StoreError`` for another program's database, and for a store of a
    newer version."""
    application: int = connection.execute("PRAGMA application_id").fetchone()[0]
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if application != APPLICATION_ID:
        raise StoreError(f"{path}: another program's database (move it away, or choose another state_dir)")
    if version > SCHEMA_VERSION:
        raise StoreError(newer(str(path), version))
    return version


def newer(shown: str, version: int) -> str:
    """What is said of a store of a newer version."""
    return (
        f"{shown}: written by a newer Toolspan (store version {version}, this one reads up to "
        f"{SCHEMA_VERSION}); nothing was changed (update Toolspan, or choose another state_dir)"
    )


def set_aside(path: Path) -> None:
    """Rename the store and what is beside it, so that nothing of it is lost."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
    aside = path.with_name(f"{path.name}.damaged-{stamp}")
    for suffix in SIDE_FILES:
        with suppress(FileNotFoundError):
            rename_private(sibling(path, suffix), sibling(aside, suffix))
    remove_private(suspicion(path))
    sync_folder(path.parent)


def set_aside_notices(path: Path) -> tuple[str, ...]:
    """One sentence for each damaged store that lies beside ``path``, naming both files."""
    prefix = f"{path.name}.damaged-"
    found = {_stem(entry) for entry, _ in list_private(path.parent) if entry.name.startswith(prefix)}
    return tuple(
        f"the validation store {path} was damaged; it was set aside as {path.with_name(name)} and a new one "
        "was started (recover what you need with `sqlite3 FILE .recover`, then delete that file)"
        for name in sorted(found)
    )


def suspicion(path: Path) -> Path:
    """The file that says that damage was seen: with it the whole store is examined when it is opened."""
    return path.with_name(f"{path.name}.suspect")


def mark_suspect(path: Path) -> None:
    """Have the store examined as a whole when it is opened next, where its folder can be written."""
    with suppress(OSError):
        private_file(suspicion(path))


def sibling(path: Path, suffix: str) -> Path:
    """The file beside ``path`` whose name has ``suffix`` in addition."""
    return path.with_name(path.name + suffix)


def _stem(path: Path) -> str:
    return path.name.removesuffix("-wal").removesuffix("-shm").removesuffix("-journal")
