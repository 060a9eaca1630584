"""Requests that came with an ``Idempotency-Key``, in a file of the state folder. Imports SQLAlchemy."""

from __future__ import annotations

import json
import re
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout
from sqlalchemy import (
    Column,
    Connection,
    Index,
    LargeBinary,
    MetaData,
    Table,
    delete,
    func,
    insert,
    select,
    update,
)

from toolspan_server.common.state.folder import private_folder
from toolspan_server.common.state.private_files import (
    is_private_file,
    list_private,
    private_file,
    remove_private,
)

from .state_database import StateDatabase
from .stored_types import StoredFloat, StoredInteger, StoredText

__all__ = ["KEYED_FILE", "KeptAnswer", "KeyedRequests", "Known"]

KEYED_FILE = "requests.sqlite3"
_MARK, _VERSION = 0x7453_5251, 1
_OWNERS = "requests"
_AN_OWNER = re.compile(r"[0-9a-f]{16}")
_METADATA = MetaData()
_requests = Table(
    "requests",
    _METADATA,
    Column("who", StoredText, primary_key=True),
    Column("key", StoredText, primary_key=True),
    Column("fingerprint", LargeBinary, nullable=False),
    Column("begun", StoredFloat, nullable=False),
    Column("owner", StoredText, nullable=False),
    Column("status", StoredInteger),
    Column("headers", StoredText),
    Column("body", LargeBinary),
    Column("bytes", StoredInteger, nullable=False, default=0),
    Index("requests_by_age", "who", "begun"),
)


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """An answer as it was given; ``body`` is ``None`` where only that it was given is kept."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes | None


@dataclass(frozen=True, slots=True)
class Known:
    """A request that came before: with its ``answer``, or being answered by a process that is alive
    (``goes_on``), or begun by one that ended before it was answered."""

    fingerprint: bytes
    begun: float
    answer: KeptAnswer | None
    goes_on: bool


class KeyedRequests:
    """The requests of each principal (``who``), for ``kept_s`` seconds: at most ``most`` of one, and
    ``most_bytes`` of their answers. Its calls wait for the disk; several processes may share the file.

    Raises ``StoreError`` when it cannot be read or written.
    """

    def __init__(
        self,
        folder: Path,
        *,
        kept_s: float,
        most_bytes: int,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._kept_s = kept_s
        self._most_bytes = most_bytes
        self._clock = clock
        self._database = StateDatabase(
            folder / KEYED_FILE, _METADATA, mark=_MARK, version=_VERSION, about="the keyed requests"
        )
        self._owners = folder / _OWNERS
        self.owner = secrets.token_hex(8)
        self._lock = self._held()
        for each, _ in list_private(self._owners):
            if each.suffix == ".lock" and each.stem != self.owner:
                self._is_alive(each.stem)  # which removes what a process that died left there

    def begin(self, who: str, key: str, fingerprint: bytes, most: int) -> Known | None:
        """What is known of the request; where nothing is, it is noted as begun, and nobody else begins it."""
        now = self._clock()

        def write(connection: Connection) -> tuple[Known, str] | None:
            self._forget(connection, who, most, now)
            row = connection.execute(
                select(_requests).where(_requests.c.who == who, _requests.c.key == key)
            ).first()
            if row is None:
                values = {"who": who, "key": key, "fingerprint": fingerprint, "begun": now}
                connection.execute(insert(_requests).values(**values, owner=self.owner, bytes=0))
                return None
            answer = None
            if row.status is not None:
                headers = [(name, value) for name, value in json.loads(row.headers)]
                answer = KeptAnswer(row.status, headers, row.body)
            return Known(row.fingerprint, row.begun, answer, goes_on=False), row.owner

        found = self._database.write(write)
        if found is None:
            return None
        known, owner = found
        goes_on = known.answer is None and owner != self.owner and self._is_alive(owner)
        return Known(known.fingerprint, known.begun, known.answer, goes_on)

    def answered(self, who: str, key: str, answer: KeptAnswer) -> None:
        """Keep the answer to what was begun here."""
        self._database.write(
            lambda connection: connection.execute(
                update(_requests)
                .where(_requests.c.who == who, _requests.c.key == key, _requests.c.owner == self.owner)
                .values(
                    status=answer.status,
                    headers=json.dumps(answer.headers),
                    body=answer.body,
                    bytes=len(answer.body or b""),
                )
            )
        )

    def given_up(self, who: str, key: str) -> None:
        """Forget what was begun here: it may be sent again."""
        self._database.write(
            lambda connection: connection.execute(
                delete(_requests).where(
                    _requests.c.who == who,
                    _requests.c.key == key,
                    _requests.c.owner == self.owner,
                    _requests.c.status.is_(None),
                )
            )
        )

    def close(self) -> None:
        """Let go of the file; what was begun here and not answered stays noted."""
        self._database.close()
        self._lock.release()
        remove_private(self._owner_file(self.owner))

    def _forget(self, connection: Connection, who: str, most: int, now: float) -> None:
        """Forget what is too old, and the oldest answers of ``who`` beyond what one may have kept."""
        connection.execute(delete(_requests).where(_requests.c.begun <= now - self._kept_s))
        own = (_requests.c.who == who, _requests.c.status.is_not(None))
        count, size = connection.execute(
            select(func.count(), func.coalesce(func.sum(_requests.c.bytes), 0)).where(*own)
        ).one()
        if count < most and size <= self._most_bytes:
            return
        rows = connection.execute(
            select(_requests.c.key, _requests.c.bytes).where(*own).order_by(_requests.c.begun)
        )
        for row in rows.all():
            if count < most and size <= self._most_bytes:
                break
            connection.execute(delete(_requests).where(_requests.c.who == who, _requests.c.key == row.key))
            count, size = count - 1, size - row.bytes

    def _held(self) -> FileLock:
        """The lock that tells other processes that this one is alive: the system gives it back at its end."""
        private_folder(self._owners)
        lock = FileLock(private_file(self._owner_file(self.owner)), 0, mode=0o600, thread_local=False)
        lock.acquire()
        return lock

    def _is_alive(self, owner: str) -> bool:
        if not _AN_OWNER.fullmatch(owner):  # a name in the database is no path
            return False
        path = self._owner_file(owner)
        if not is_private_file(path):
            return False
        lock = FileLock(path, 0, mode=0o600, thread_local=False)
        try:
            lock.acquire()
        except (Timeout, OSError):
            return True
        lock.release()
        with suppress(OSError):
            remove_private(path)
        return False

    def _owner_file(self, owner: str) -> Path:
        return self._owners / f"{owner}.lock"
