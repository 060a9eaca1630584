"""A collection's index: an SQLite file with FTS5 in a folder of its own, shared by processes."""

from __future__ import annotations

import logging
import os
import sqlite3
import time
from collections.abc import Generator, Iterable
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import Event

from ...common.state.folder import private_folder
from ...common.state.private_files import check_database, private_database, rename_private, stat_private
from ._passages import Passage
from ._schema import (
    fault,
    is_busy,
    is_damage,
    prepare,
)

_FILE = "index.sqlite3"
_BUSY_SECONDS = 10.0
_BUSY_STEP_SECONDS = 0.25

_FILE_ID = "(SELECT id FROM files WHERE path = ?)"
_CONTENTS = f"""
SELECT id, title, heading, text FROM contents
WHERE id IN (SELECT id FROM passages WHERE file = {_FILE_ID})
"""

_log = logging.getLogger(__name__)


class DamagedIndex(Exception):
    """An index's file cannot be used: it is damaged or missing, or a newer or older program's."""

    def __init__(self, fault: str, file: int) -> None:
        super().__init__(f"the index is {fault}")
        self.fault = fault
        self.file = file


class Index:
    """An open index. Every change is one transaction: whoever searches sees it whole or not at all."""

    def __init__(self, connection: sqlite3.Connection, stop: Event) -> None:
        self._connection = connection
        self._stop = stop

    def files(self) -> dict[str, tuple[str, bytes]]:
        """The stamp and the digest of each file, by its path."""
        rows = self._connection.execute("SELECT path, stamp, digest FROM files")
        return {os.fsdecode(path): (stamp, digest) for path, stamp, digest in rows}

    def put(self, path: str, stamp: str, digest: bytes, title: str, passages: Iterable[Passage]) -> None:
        """Make ``passages`` what is found of the file ``path``."""
        execute = self._connection.execute
        with _transaction(self._connection, self._stop):
            self._forget(path)
            row = (os.fsencode(path), stamp, digest, title)
            file = execute(
                "INSERT INTO files (path, stamp, digest, title) VALUES (?, ?, ?, ?)", row
            ).lastrowid
            for position, passage in enumerate(passages):
                execute(
                    "INSERT INTO passages (file, position, heading, text) VALUES (?, ?, ?, ?)",
                    (file, position, passage.heading, passage.text),
                )
            execute(f"INSERT INTO words (rowid, title, heading, text) {_CONTENTS}", (os.fsencode(path),))

    def settle(self, path: str, stamp: str) -> None:
        """Note that the file ``path`` has the content that is known, now with the stamp ``stamp``."""
        with _transaction(self._connection, self._stop):
            self._connection.execute("UPDATE files SET stamp = ? WHERE path = ?", (stamp, os.fsencode(path)))

    def drop(self, path: str) -> None:
        """Forget the file ``path``."""
        with _transaction(self._connection, self._stop):
            self._forget(path)

    def _forget(self, path: str) -> None:
        name = (os.fsencode(path),)
        words = "INSERT INTO words (words, rowid, title, heading, text)"
        self._connection.execute(f"{words} SELECT 'delete', * FROM ({_CONTENTS})", name)
        self._connection.execute(f"DELETE FROM passages WHERE file = {_FILE_ID}", name)
        self._connection.execute("DELETE FROM files WHERE path = ?", name)


@contextmanager
def open_index(folder: Path, stop: Event) -> Generator[Index]:
    """The index in ``folder``, made when it is not there. Waits for other processes, but not beyond ``stop``.

    Raises ``DamagedIndex``, also out of the block when the damage shows only there; ``OSError`` or
    ``sqlite3.Error`` when the folder cannot be used.
    """
    private_database(private_folder(folder) / _FILE)
    with connected(folder, create=True) as connection:
        _patiently(connection, "PRAGMA journal_mode = WAL", stop)
        connection.execute("PRAGMA synchronous = NORMAL")
        with _transaction(connection, stop):
            problem = prepare(connection)
        if problem := problem or fault(connection):
            raise DamagedIndex(problem, _file_number(folder))
        yield Index(connection, stop)


@contextmanager
def connected(folder: Path, *, create: bool = False) -> Generator[sqlite3.Connection]:
    """A connection to the index in ``folder``; ``DamagedIndex`` when its file is wrong or gone."""
    number = _file_number(folder)
    if not (number or create):
        raise DamagedIndex("missing", number)
    check_database(folder / _FILE)
    uri = f"{(folder / _FILE).absolute().as_uri()}?mode={'rwc' if create else 'rw'}"
    try:
        with closing(
            sqlite3.connect(uri, uri=True, timeout=_BUSY_STEP_SECONDS, isolation_level=None)
        ) as connection:
            yield connection
    except sqlite3.DatabaseError as error:
        if is_damage(error):
            raise DamagedIndex("damaged", number) from error
        raise


def set_aside(folder: Path, damage: DamagedIndex) -> None:
    """Rename the index's folder, unless it is gone or another process has done so. Its content is kept."""
    if _file_number(folder) != damage.file or damage.file == 0:
        return
    moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    aside = folder.with_name(f"{folder.name}.{damage.fault}-{moment}")
    rename_private(folder, aside)
    _log.warning("the index %s is %s; it is now %s, and is built again", folder, damage.fault, aside.name)


def _file_number(folder: Path) -> int:
    found = stat_private(folder / _FILE)
    return 0 if found is None else found.st_ino


@contextmanager
def _transaction(connection: sqlite3.Connection, stop: Event) -> Generator[None]:
    _patiently(connection, "BEGIN IMMEDIATE", stop)
    try:
        yield
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _patiently(connection: sqlite3.Connection, statement: str, stop: Event) -> None:
    """Execute ``statement``, again and again for a while if another process holds the file."""
    deadline = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            connection.execute(statement)
        except sqlite3.OperationalError as error:
            if not is_busy(error) or time.monotonic() > deadline or stop.wait(0.01):
                raise
        else:
            return
