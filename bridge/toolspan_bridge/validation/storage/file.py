"""The file under the validation store: made whole or not at all, examined, set aside when damaged."""

from __future__ import annotations

import os
import sqlite3
import zlib
from collections.abc import Sequence
from contextlib import closing, suppress
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from toolspan_server.common.private_files import private_database, private_file

from ...errors import StoreError

SCHEMA_VERSION = 4
BUSY_SECONDS = 10.0
_COLUMNS_OF_3 = ("model_id", "suite", "scenario", "timestamp", "success", "error", "details", "fingerprint")
COLUMNS = (*_COLUMNS_OF_3, "is_error", "run", "number")
"""Of a trial. Up to version 2 there was no fingerprint, up to version 3 nothing after it: a trial of
then has ``NOTHING_MORE``, and an empty fingerprint."""
NOTHING_MORE = (0, "", 0)

_OF_3 = (*_COLUMNS_OF_3, "0", "''", "0")
_OF_2 = (*_COLUMNS_OF_3[:-1], "''", "0", "''", "0")
_APPLICATION_ID = 0x746F6F6C  # "tool"
_SIDE_FILES = ("", "-wal", "-shm", "-journal")
_MAGIC = b"SQLite format 3\x00"
_WORDINGS = "CREATE TABLE wordings (model_id TEXT PRIMARY KEY, choice TEXT NOT NULL)"
_FINGERPRINTS = "CREATE TABLE fingerprints (digest TEXT PRIMARY KEY, parts TEXT NOT NULL)"
_BY_RECORD = "CREATE INDEX trials_by_record ON trials (model_id, suite, fingerprint, success, timestamp)"
_MORE = """
ALTER TABLE trials ADD COLUMN is_error INTEGER NOT NULL DEFAULT 0;
ALTER TABLE trials ADD COLUMN run TEXT NOT NULL DEFAULT '';
ALTER TABLE trials ADD COLUMN number INTEGER NOT NULL DEFAULT 0;
DROP INDEX trials_by_record;
CREATE INDEX trials_by_record ON trials (model_id, suite, fingerprint, is_error, success, timestamp);
CREATE UNIQUE INDEX trials_by_number ON trials (run, number) WHERE number > 0 AND is_error = 0;
CREATE TABLE runs (
  id TEXT PRIMARY KEY,
  plan TEXT NOT NULL,
  started TEXT NOT NULL,
  finished TEXT NOT NULL,
  contents TEXT NOT NULL
)"""
_MIGRATIONS = {
    1: _WORDINGS,
    2: f"{_FINGERPRINTS}; ALTER TABLE trials ADD COLUMN fingerprint TEXT NOT NULL DEFAULT ''; {_BY_RECORD}",
    3: _MORE,
}
"""What brings a store of each version to the next one."""
_SCHEMA = f"""
BEGIN;
CREATE TABLE trials (
  id INTEGER PRIMARY KEY,
  model_id TEXT NOT NULL,
  suite TEXT NOT NULL,
  scenario TEXT NOT NULL,
  timestamp TEXT NOT NULL,
  success INTEGER NOT NULL,
  error TEXT NOT NULL,
  details TEXT NOT NULL,
  checksum INTEGER NOT NULL,
  fingerprint TEXT NOT NULL DEFAULT ''
);
{_WORDINGS};
{_FINGERPRINTS};
{_BY_RECORD};
{_MORE};
PRAGMA application_id = {_APPLICATION_ID};
PRAGMA user_version = {SCHEMA_VERSION};
COMMIT;
"""


def prepare(path: Path) -> None:
    """See to it that ``path`` is a sound store, made anew where there is none. Hold the lock meanwhile.

    A damaged one is renamed first. Raises ``StoreError`` for a newer store and another program's database.
    """
    orphaned_log = not path.exists() and _sibling(path, "-wal").exists()
    if orphaned_log or (path.exists() and _is_damaged(path)):
        _set_aside(path)
    if path.exists():
        private_database(path)
        _migrate(path)
    else:
        _create(path)


def _migrate(path: Path) -> None:
    """Bring a store of an earlier version up to this one, whole or not at all."""
    with closing(opened(path, "rw")) as connection:
        version: int = connection.execute("PRAGMA user_version").fetchone()[0]
        if version < SCHEMA_VERSION:
            steps = "; ".join(_MIGRATIONS[each] for each in range(version, SCHEMA_VERSION))
            connection.execute("PRAGMA synchronous = FULL")
            connection.executescript(f"BEGIN; {steps}; PRAGMA user_version = {SCHEMA_VERSION}; COMMIT")


def set_aside_notices(path: Path) -> tuple[str, ...]:
    """One sentence for each damaged store that lies beside ``path``, naming both files."""
    found = {_stem(entry) for entry in path.parent.glob(f"{path.name}.damaged-*")}
    return tuple(
        f"the validation store {path} was damaged; it was set aside as {path.with_name(name)} and a new one "
        "was started (recover what you need with `sqlite3 FILE .recover`, then delete that file)"
        for name in sorted(found)
    )


def opened(path: Path, mode: str) -> sqlite3.Connection:
    """A connection to ``path``; ``mode`` is ``ro``, ``ro&immutable=1`` or ``rw``."""
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    return sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)


def checksum(row: Sequence[object]) -> int:
    """A checksum of a row (values in the order of ``COLUMNS``), different where the disk changed a byte.

    What a trial of an earlier version has not has no part in it, so that those trials keep theirs.
    """
    *earlier, fingerprint = row[: len(_COLUMNS_OF_3)]
    if tuple(row[len(_COLUMNS_OF_3) :]) not in (NOTHING_MORE, (0, b"", 0)):
        counted: Sequence[object] = row
    else:
        counted = [*earlier, fingerprint] if fingerprint else earlier
    return zlib.crc32(
        b"\x00".join(value if isinstance(value, bytes) else str(value).encode() for value in counted)
    )


def sync_directory(directory: Path) -> None:
    """Make a rename in ``directory`` last through a power cut, where the system offers that."""
    if os.name != "posix":
        return
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _is_damaged(path: Path) -> bool:
    if not path.is_file():
        raise StoreError(f"{path}: not a regular file (remove it, or choose another state_dir)")
    with path.open("rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            return True
    try:
        # Read-only, so that what is set aside is what was found.
        with closing(opened(path, "ro")) as connection:
            refuse_other(path, connection)
            return connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok" or _is_altered(
                connection
            )
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorname", "").startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
            return True
        raise


def refuse_other(path: Path, connection: sqlite3.Connection) -> None:
    """Raise ``StoreError`` for another program's database, and for a store of a newer version."""
    application: int = connection.execute("PRAGMA application_id").fetchone()[0]
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if application != _APPLICATION_ID:
        raise StoreError(f"{path}: another program's database (move it away, or choose another state_dir)")
    if version > SCHEMA_VERSION:
        raise StoreError(
            f"{path}: written by a newer Toolspan (store version {version}, this one reads up to "
            f"{SCHEMA_VERSION}); nothing was changed (update Toolspan, or choose another state_dir)"
        )


def _is_altered(connection: sqlite3.Connection) -> bool:
    if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'trials'").fetchone() is None:
        return True
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    kept = ", ".join({1: _OF_2, 2: _OF_2, 3: _OF_3}.get(version, COLUMNS))
    connection.text_factory = bytes
    if version >= 3 and any(
        sha256(parts).hexdigest().encode() != digest
        for digest, parts in connection.execute("SELECT digest, parts FROM fingerprints")
    ):
        return True
    rows = connection.execute(f"SELECT {kept}, checksum FROM trials")
    return any(checksum(row[:-1]) != row[-1] for row in rows)


def _create(path: Path) -> None:
    fresh = path.with_name(f"{path.name}.new")
    for suffix in _SIDE_FILES:
        _sibling(fresh, suffix).unlink(missing_ok=True)
    with closing(opened(private_file(fresh), "rw")) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.executescript(_SCHEMA)
    fresh.replace(path)
    sync_directory(path.parent)


def _set_aside(path: Path) -> None:
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
    aside = path.with_name(f"{path.name}.damaged-{stamp}")
    for suffix in _SIDE_FILES:
        with suppress(FileNotFoundError):
            _sibling(path, suffix).rename(_sibling(aside, suffix))
    sync_directory(path.parent)


def _sibling(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def _stem(path: Path) -> str:
    return path.name.removesuffix("-wal").removesuffix("-shm").removesuffix("-journal")
