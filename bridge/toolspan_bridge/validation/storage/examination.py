"""Whether the file of a store in SQLite is what was written.

A store of at most ``WHOLE_BYTES``, one in which damage was seen, and one of an earlier version are examined
as a whole: every page, and the checksum of every row. Of a larger one only what is counted is: its cells and
fingerprints. Its trials are checked whenever one is read.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from hashlib import sha256
from pathlib import Path

from toolspan_server.common.state.private_files import is_private_file, read_private, stat_private

from ...errors import StoreError
from .file import APPLICATION_ID, SCHEMA_VERSION, STORE_FILE, opened, refuse_other, sibling, suspicion
from .rows import COLUMNS, checksum, crc

__all__ = ["WHOLE_BYTES", "is_damaged", "refuse_foreign"]

WHOLE_BYTES = 32 << 20
_MAGIC = b"SQLite format 3\x00"
_ID_AT = 68
"""Where a SQLite file has its application id (sqlite.org/fileformat2.html)."""
_EARLIER = {
    1: (*COLUMNS[:7], "''", "0", "''", "0"),
    2: (*COLUMNS[:7], "''", "0", "''", "0"),
    3: (*COLUMNS[:8], "0", "''", "0"),
}
"""What stands for the columns that a version had not."""


def is_damaged(path: Path) -> bool:
    """Whether the store at ``path`` is damaged. It is read only, so that what is set aside is what was found.

    Raises ``StoreError`` for what is no store of this or an earlier version, and ``sqlite3.Error``.
    """
    if not is_private_file(path):
        raise StoreError(f"{path}: not a regular file (remove it, or choose another state_dir)")
    refuse_foreign(path)
    if read_private(path, len(_MAGIC)) != _MAGIC:
        return True
    try:
        with closing(opened(path, "ro")) as connection:
            connection.execute("BEGIN")  # all is of one moment, whatever others write meanwhile
            version = refuse_other(path, connection)
            if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'trials'").fetchone() is None:
                return True
            is_small = _size(path) <= WHOLE_BYTES
            whole = is_small or version < SCHEMA_VERSION or stat_private(suspicion(path)) is not None
            return _is_cut(path, connection) or _differs(connection, version, whole)
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorname", "").startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
            return True
        raise


def refuse_foreign(path: Path) -> None:
    """Raise ``StoreError`` for a file that was never a store: a config may name any path, and what is there
    is neither replaced nor moved. A file that has a store's own name counts as one, whatever is in it."""
    if path.name == STORE_FILE or stat_private(path) is None:
        return
    head = read_private(path, _ID_AT + 4)
    is_store = head.startswith(_MAGIC) and int.from_bytes(head[_ID_AT:]) == APPLICATION_ID
    if head and not is_store:
        raise StoreError(
            f"{path}: this file is not a validation store, so it is left as it is "
            "(name another file in validation.store, or move this one away)"
        )


def _is_cut(path: Path, connection: sqlite3.Connection) -> bool:
    """Whether the file is shorter than it says, when no log holds what is missing."""
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    page_size = connection.execute("PRAGMA page_size").fetchone()[0]
    size = _size(path)
    has_log = _size(sibling(path, "-wal")) > 0  # looked at last: pages that only it holds are counted above
    return bool(size < pages * page_size) and not has_log


def _size(path: Path) -> int:
    found = stat_private(path)
    return 0 if found is None else found.st_size


def _differs(connection: sqlite3.Connection, version: int, whole: bool) -> bool:
    connection.text_factory = bytes
    if version >= 3 and _fingerprints_differ(connection):
        return True
    if version >= 4 and _cells_differ(connection):
        return True
    if not whole:
        return False
    if connection.execute("PRAGMA quick_check(1)").fetchone()[0] != b"ok":
        return True
    columns = ", ".join(_EARLIER.get(version, COLUMNS))
    rows = connection.execute(f"SELECT {columns}, checksum FROM trials")
    if any(checksum(row[:-1]) != row[-1] for row in rows):
        return True
    return version >= 4 and _are_missing(connection)


def _fingerprints_differ(connection: sqlite3.Connection) -> bool:
    found = connection.execute("SELECT digest, parts FROM fingerprints")
    return any(sha256(parts).hexdigest().encode() != digest for digest, parts in found)


def _cells_differ(connection: sqlite3.Connection) -> bool:
    from .cells import CELL_COLUMNS

    found = connection.execute(f"SELECT {', '.join(CELL_COLUMNS)}, checksum FROM cells")
    return any(crc(row[:-1]) != row[-1] for row in found)


def _are_missing(connection: sqlite3.Connection) -> bool:
    """Whether a cell has more or fewer trials than were written."""
    counted = dict(connection.execute("SELECT cell, count(*) FROM trials GROUP BY cell"))
    written = dict(connection.execute("SELECT id, n + errors FROM cells WHERE n + errors > 0"))
    return bool(counted != written)
