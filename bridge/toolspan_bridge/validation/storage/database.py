"""The SQLite side of the validation store: statements in, ``StoreError`` out."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from toolspan_server.common.private_files import private_file, private_folder

from ...errors import StoreError
from .file import (
    BUSY_SECONDS,
    COLUMNS,
    checksum,
    opened,
    prepare,
    set_aside_notices,
    sync_directory,
)
from .lock import locked

Row = tuple[str, str, str, str, int, str, str, str, int, str, int]
"""A trial's values, in the order of ``COLUMNS``."""

RunRow = tuple[str, str, str, str, str]
"""A run's id, plan, start, end and contents."""

_INSERT = (
    f"INSERT INTO trials ({', '.join(COLUMNS)}, checksum) VALUES ({', '.join('?' * (len(COLUMNS) + 1))}) "
    "ON CONFLICT DO NOTHING"
)
_NUMBERED = (
    f"SELECT {', '.join(COLUMNS)} FROM trials WHERE run = ? AND number = ? AND number > 0 AND is_error = 0"
)
_DONE = "SELECT number FROM trials WHERE run = ? AND number > 0 AND is_error = 0"
_BEGIN = "INSERT OR IGNORE INTO runs (id, plan, started, finished, contents) VALUES (?, ?, ?, ?, ?)"
_UNFINISHED = (
    "SELECT id, plan, started, finished, contents FROM runs WHERE plan = ? AND finished = '' "
    "ORDER BY started DESC, id LIMIT 1"
)
_RUN = "SELECT id, plan, started, finished, contents FROM runs WHERE id = ?"
_FINISH = "UPDATE runs SET finished = ? WHERE id = ? AND finished = ''"
_KEEP = "INSERT OR IGNORE INTO fingerprints (digest, parts) VALUES (?, ?)"
_SELECT = f"SELECT {', '.join(COLUMNS)} FROM trials WHERE ?1 IS NULL OR model_id = ?1 ORDER BY id"
_RECORDS = (
    "SELECT model_id, suite, fingerprint, count(*) - sum(is_error), sum(success * (1 - is_error)), "
    "sum(is_error), min(timestamp), max(timestamp) FROM trials "
    "WHERE ?1 IS NULL OR model_id = ?1 GROUP BY model_id, suite, fingerprint"
)
_CHOOSE = "INSERT OR REPLACE INTO wordings (model_id, choice) VALUES (?, ?)"
_COUNT = (
    "SELECT count(*), coalesce(sum(success), 0) FROM trials WHERE is_error = 0 AND "
    "model_id = ?1 AND (?2 IS NULL OR fingerprint = ?2)"
)

_DAMAGED = "it is damaged (the next start sets it aside under another name)"
_REASONS = {
    "SQLITE_FULL": "the disk is full (make room, then try again)",
    "SQLITE_IOERR": "the disk does not take or give the data (is it full, over quota or failing?)",
    "SQLITE_READONLY": "it is read-only (check its permissions and its folder's)",
    "SQLITE_CANTOPEN": "it cannot be opened (check its permissions and its folder's)",
    "SQLITE_PERM": "permission denied (check its permissions and its folder's)",
    "SQLITE_BUSY": f"another process has held it for {BUSY_SECONDS:g} s (end it, or try again)",
    "SQLITE_CORRUPT": _DAMAGED,
    "SQLITE_NOTADB": _DAMAGED,
}


class Database:
    """An open store file. Safe to share between threads. ``notices`` names each store that was set aside."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        with self._reporting_errors("open"):
            private_folder(path.parent)
            with locked(path.with_name(f"{path.name}.lock")):
                prepare(path)
                self._connection = _connected(path)
        self._kept: set[str] = set()
        self._identity = _identity(path)
        self.notices = set_aside_notices(path)

    def insert(self, rows: Sequence[Row], fingerprints: Mapping[str, str]) -> list[Row]:
        """Write ``rows``, all or none, and the texts of their ``fingerprints`` by digest: when this returns
        they are on the disk.

        Returns the rows that are there: an earlier one of the same run and number stays, and is the one.
        """
        with (
            self._lock,
            self._reporting_errors("write to", "; this trial is not recorded, earlier ones are intact"),
        ):
            self._check_identity("trial")
            new = {digest: text for digest, text in fingerprints.items() if digest not in self._kept}
            with self._connection:
                self._connection.execute("BEGIN IMMEDIATE")
                self._connection.executemany(_KEEP, new.items())
                kept = [self._inserted(row) for row in rows]
            self._kept.update(new)
            return kept

    def _inserted(self, row: Row) -> Row:
        if self._connection.execute(_INSERT, (*row, checksum(row))).rowcount:
            return row
        earlier: Row = self._connection.execute(_NUMBERED, row[-2:]).fetchone()
        return earlier

    def begin(self, run: RunRow) -> None:
        """Write a run, unless there is one of the same id."""
        with self._lock, self._reporting_errors("write to", "; the run is not recorded"):
            self._check_identity("run")
            self._connection.execute(_BEGIN, run)

    def unfinished(self, plan: str) -> RunRow | None:
        """The last started run of ``plan`` that is not finished."""
        with self._lock, self._reporting_errors("read"):
            found: RunRow | None = self._connection.execute(_UNFINISHED, (plan,)).fetchone()
            return found

    def run(self, run_id: str) -> RunRow | None:
        """The run of that id."""
        with self._lock, self._reporting_errors("read"):
            found: RunRow | None = self._connection.execute(_RUN, (run_id,)).fetchone()
            return found

    def finish(self, run_id: str, when: str) -> None:
        """Write when a run was finished, unless it was before."""
        with self._lock, self._reporting_errors("write to", "; the run is not recorded as finished"):
            self._check_identity("end of the run")
            self._connection.execute(_FINISH, (when, run_id))

    def done(self, run_id: str) -> list[int]:
        """The numbers of a run that have a trial which is no error."""
        with self._lock, self._reporting_errors("read"):
            return [row[0] for row in self._connection.execute(_DONE, (run_id,))]

    def choose(self, model_id: str, choice: str) -> None:
        """Write the choice of a wording for a model, in place of an earlier one."""
        with self._lock, self._reporting_errors("write to", "; the choice of a wording is not recorded"):
            self._check_identity("choice of a wording")
            self._connection.execute(_CHOOSE, (model_id, choice))

    def rows(self, model_id: str | None) -> list[Row]:
        """Every row, or those of one model, oldest first."""
        with self._lock, self._reporting_errors("read"):
            return self._connection.execute(_SELECT, (model_id,)).fetchall()

    def counts_of_records(self, model_id: str | None) -> list[tuple[str, str, str, int, int, int, str, str]]:
        """Model, suite and fingerprint of each record, its trials, successes and errors, and its first and
        last time."""
        with self._lock, self._reporting_errors("read"):
            return self._connection.execute(_RECORDS, (model_id,)).fetchall()

    def fingerprints(self) -> dict[str, str]:
        """The text of every fingerprint, by its digest."""
        with self._lock, self._reporting_errors("read"):
            return dict(self._connection.execute("SELECT digest, parts FROM fingerprints").fetchall())

    def count(self, model_id: str, fingerprint: str | None = None) -> tuple[int, int]:
        """How many trials of the model there are, under all fingerprints or one, and how many of them
        succeeded."""
        with self._lock, self._reporting_errors("read"):
            trials, successes = self._connection.execute(_COUNT, (model_id, fingerprint)).fetchone()
            return trials, successes

    def numbered_rows(self) -> list[tuple[int, Row]]:
        """Every row with its number, oldest first."""
        with self._lock, self._reporting_errors("read"):
            found = self._connection.execute(f"SELECT id, {', '.join(COLUMNS)} FROM trials ORDER BY id")
            return [(row[0], row[1:]) for row in found]

    def remove(self, numbers: Iterable[int], backup: Path) -> None:
        """Remove the rows of these ``numbers``, all or none, once the whole store is copied to ``backup``."""
        with self._lock, self._reporting_errors("change", "; nothing was removed"):
            self._check_identity("removal")
            with closing(sqlite3.connect(private_file(backup))) as copy:
                self._connection.backup(copy)
            sync_directory(backup.parent)
            with self._connection:
                self._connection.execute("BEGIN IMMEDIATE")
                self._connection.executemany("DELETE FROM trials WHERE id = ?", [(each,) for each in numbers])

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def _check_identity(self, what: str) -> None:
        if _identity(self.path) != self._identity:
            raise StoreError(
                f"{self.path}: this file was removed or replaced while in use; the {what} is not recorded "
                "(run again)"
            )

    @contextmanager
    def _reporting_errors(self, verb: str, consequence: str = "") -> Generator[None]:
        try:
            yield
        except sqlite3.Error as error:
            why = _reason(error)
            raise StoreError(f"cannot {verb} the validation store {self.path}: {why}{consequence}") from error
        except OSError as error:
            why = error.strerror or str(error)
            raise StoreError(f"cannot {verb} the validation store {self.path}: {why}{consequence}") from error


def _connected(path: Path) -> sqlite3.Connection:
    """A connection with a write-ahead log, where every commit is on the disk before it counts."""
    connection = opened(path, "rw")
    try:
        mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
        if mode != "wal":
            raise StoreError(
                f"{path}: this file system does not support SQLite's write-ahead log (use a local disk)"
            )
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA fullfsync = ON")
    except BaseException:
        connection.close()
        raise
    return connection


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return (status.st_dev, status.st_ino)


def _reason(error: sqlite3.Error) -> str:
    name = getattr(error, "sqlite_errorname", "")
    for prefix, words in _REASONS.items():
        if name.startswith(prefix):
            return words
    return f"{error} ({name or type(error).__name__})"
