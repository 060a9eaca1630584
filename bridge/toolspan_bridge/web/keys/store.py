"""The keys in a file of the state folder: made, listed, revoked, found. Imports SQLAlchemy."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, RowMapping, insert, or_, select, update

from ...errors import UsageError
from ..storage.state_database import StateDatabase
from .refusals import ExpiredKeyError, RevokedKeyError, UnknownKeyError
from .spending import Ledger
from .tables import MARK, METADATA, VERSION, keys
from .virtual_key import KeyLimits, VirtualKey, digest_of, id_in, is_same, iso, new_secret

__all__ = ["KEYS_FILE", "KeyStore"]

KEYS_FILE = "keys.sqlite3"
_NOBODY = digest_of("")


class KeyStore:
    """The virtual keys of a state folder. Its calls wait for the disk; several processes may share it.

    Raises ``StoreError`` when the file cannot be read or written. ``clock`` gives seconds since 1970.
    """

    def __init__(self, folder: Path, clock: Callable[[], float] = time.time) -> None:
        self._database = StateDatabase(
            folder / KEYS_FILE, METADATA, mark=MARK, version=VERSION, about="the virtual keys"
        )
        self._clock = clock
        self.ledger = Ledger(self._database, clock)

    def create(self, name: str, limits: KeyLimits, expires: float | None = None) -> tuple[VirtualKey, str]:
        """A new key and its secret, which is told this once and kept only as a hash. Raises ``UsageError``
        when there is a key of that name."""
        key_id, secret = new_secret()
        key = VirtualKey(key_id, name, self._clock(), limits, expires)
        row = {
            "id": key_id,
            "name": name,
            "digest": digest_of(secret),
            "created": key.created,
            "expires": expires,
            "revoked": None,
            "limits": json.dumps(limits.as_dict()),
        }

        def write(connection: Connection) -> None:
            if connection.execute(select(keys.c.id).where(keys.c.name == name)).first():
                raise UsageError(
                    f"there is a key {name!r} already, perhaps a revoked one: choose another name"
                )
            connection.execute(insert(keys).values(row))

        self._database.write(write)
        return key, secret

    def all(self) -> list[VirtualKey]:
        """Every key, the oldest first; expired and revoked ones too."""
        found = select(keys).order_by(keys.c.created, keys.c.id)
        return self._database.read(
            lambda connection: [_key(row) for row in connection.execute(found).mappings()]
        )

    def get(self, name: str) -> VirtualKey:
        """The key of that name or id. Raises ``UsageError`` when there is none."""
        found = select(keys).where(or_(keys.c.name == name, keys.c.id == name))
        row = self._database.read(lambda connection: connection.execute(found).mappings().first())
        if row is None:
            raise UsageError(f"there is no key {name!r}: toolspan keys list shows those that there are")
        return _key(row)

    def revoke(self, name: str) -> VirtualKey:
        """The key of that name or id, which no request is let through with from now on. One that was revoked
        before stays so since then. Raises ``UsageError`` when there is none."""
        key = self.get(name)
        which = update(keys).where(keys.c.id == key.id, keys.c.revoked.is_(None))
        self._database.write(lambda connection: connection.execute(which.values(revoked=self._clock())))
        return self.get(key.id)

    def authenticated(self, secret: str) -> VirtualKey:
        """The key that ``secret`` is. Raises ``UnknownKeyError``, ``RevokedKeyError`` and
        ``ExpiredKeyError``."""
        found = select(keys).where(keys.c.id == id_in(secret))
        row = self._database.read(lambda connection: connection.execute(found).mappings().first())
        if not is_same(_NOBODY if row is None else row["digest"], secret) or row is None:
            raise UnknownKeyError("the key is not known here (toolspan keys create makes one)")
        key = _key(row)
        if key.revoked is not None:
            raise RevokedKeyError(f"the key {key.name!r} was revoked on {iso(key.revoked)}")
        if key.expires is not None and key.expires <= self._clock():
            raise ExpiredKeyError(f"the key {key.name!r} expired on {iso(key.expires)}")
        return key

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()


def _key(row: RowMapping) -> VirtualKey:
    limits: Mapping[str, Any] = json.loads(row["limits"])
    return VirtualKey(
        row["id"], row["name"], row["created"], KeyLimits.of(limits), row["expires"], row["revoked"]
    )
