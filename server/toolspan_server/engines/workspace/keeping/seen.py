"""What was read in each conversation, so that nothing is overwritten that its author has not seen."""

from __future__ import annotations

import hashlib
import json
import logging
import sqlite3
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

from ....calls.caller import Caller
from .._limits import WorkspaceLimits
from ..opening.files import OpenFile
from ..opening.paths import Place
from .database import is_missing, opened, storable

MOST_READS = 100_000
"""Files of all conversations that are known to have been read."""

MOST_UNKEPT = 10_000
"""Those that are kept in memory where the workspace's file cannot be written."""

_PRUNE_EVERY = 100
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What a file held: a digest of its content, or, of a large file, its identity, size and time."""

    digest: str | None
    mark: tuple[int, ...] = ()

    @classmethod
    def of_content(cls, data: bytes) -> Fingerprint:
        """The fingerprint of a file with the content ``data``."""
        return cls(hashlib.sha256(data).hexdigest())

    @classmethod
    def of_file(cls, file: OpenFile, limits: WorkspaceLimits) -> Fingerprint:
        """The fingerprint of an open file. Raises ``ToolFailure``."""
        if file.size > limits.file_bytes:
            found = file.found
            return cls(None, (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns))
        return cls.of_content(file.read(0, limits.file_bytes + 1))


class FilesRead:
    """The files that each conversation of each user has read or written, as they were then.

    They are in the SQLite file ``path``, for every process and after a restart. Beyond ``MOST_READS`` the
    oldest are forgotten. Where the file cannot be written they are kept in memory, as a file can be read
    nevertheless.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._unkept: OrderedDict[tuple[Caller, str], Fingerprint] = OrderedDict()
        self._notes = 0
        self._lock = threading.Lock()

    def note(self, caller: Caller, place: Place, fingerprint: Fingerprint) -> None:
        """Note what ``caller`` knows of the file at ``place``."""
        key = (caller, place.shown)
        try:
            self._write(key, fingerprint)
        except (OSError, sqlite3.Error) as error:
            _log.warning("what was read is kept in memory only: %s: %s", self._path, error)
            with self._lock:
                self._unkept[key] = fingerprint
                while len(self._unkept) > MOST_UNKEPT:
                    self._unkept.popitem(last=False)
            return
        with self._lock:
            self._unkept.pop(key, None)

    def known(self, caller: Caller, place: Place) -> Fingerprint | None:
        """What ``caller`` knows of the file at ``place``; ``None``: it was not read in this conversation."""
        with self._lock:
            unkept = self._unkept.get((caller, place.shown))
        if unkept is not None or is_missing(self._path):
            return unkept
        try:
            with opened(self._path, lasting=False) as database:
                row: tuple[str | None, str] | None = database.execute(
                    "SELECT digest, mark FROM reads WHERE user = ? AND conversation = ? AND path = ?",
                    (storable(caller.user), storable(caller.conversation), place.shown),
                ).fetchone()
        except (OSError, sqlite3.Error) as error:
            _log.warning("what was read cannot be looked up: %s: %s", self._path, error)
            return None
        return None if row is None else Fingerprint(row[0], tuple(json.loads(row[1])))

    def _write(self, key: tuple[Caller, str], fingerprint: Fingerprint) -> None:
        caller, path = key
        names = (storable(caller.user), storable(caller.conversation), path)
        values = (fingerprint.digest, json.dumps(fingerprint.mark), time.time())
        with opened(self._path, lasting=False) as database:
            database.execute("INSERT OR REPLACE INTO reads VALUES (?, ?, ?, ?, ?, ?)", (*names, *values))
            self._notes += 1
            if self._notes % _PRUNE_EVERY == 0:
                database.execute(
                    "DELETE FROM reads WHERE at < (SELECT at FROM reads ORDER BY at DESC LIMIT 1 OFFSET ?)",
                    (MOST_READS - 1,),
                )
