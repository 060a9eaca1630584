"""Work in transactions, done again where that is right, its failures in words. Imports SQLAlchemy."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager, suppress
from typing import TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError, SQLAlchemyError, StatementError

from ...errors import StoreError
from .file import mark_suspect
from .places import Place
from .reasons import DAMAGED, is_damage, reason
from .rows import Damaged

__all__ = ["Transactions", "reporting"]

_T = TypeVar("_T")
_ATTEMPTS = 4
_PASSING = ("40001", "40P01")
"""PostgreSQL ended one of two transactions that stood in each other's way."""


class Transactions:
    """Transactions over ``engine``, a store at ``place``."""

    def __init__(self, engine: Engine, place: Place) -> None:
        self.engine = engine
        self.place = place

    def read(self, work: Callable[[Connection], _T]) -> _T:
        """What ``work`` reads, all of one moment. Raises ``StoreError``."""
        with reporting(self.place, "read"):
            return self._repeated(work, reading=True, repeatable=True)

    def write(
        self, work: Callable[[Connection], _T], lost: str, *, repeatable: bool = True, verb: str = "write to"
    ) -> _T:
        """Do ``work`` whole or not at all; when it returns it is on the disk. ``repeatable`` is what comes to
        the same when it is done twice. Raises ``StoreError``, which says what is ``lost``."""
        with reporting(self.place, verb, f"; {lost}"):
            return self._repeated(work, reading=False, repeatable=repeatable)

    def undone(self, work: Callable[[Connection], object], verb: str) -> None:
        """Do ``work`` and take it back. Raises ``StoreError``."""
        with reporting(self.place, verb), self.engine.connect() as connection:
            transaction = connection.begin()
            work(connection)
            transaction.rollback()

    @contextmanager
    def snapshot(self) -> Generator[Connection]:
        """A connection that reads as everything is at one moment, a part after the other. Raises
        ``StoreError`` where there is none; what is read with it is to be ``reporting``."""
        with ExitStack() as stack:
            with reporting(self.place, "read"):
                connection = self.engine.connect()
                stack.callback(_let_go, connection)
                connection.execution_options(reading=True, stream_results=True, yield_per=1_000)
                if self.place.path is None:
                    connection.execution_options(isolation_level="REPEATABLE READ")
                connection.begin()
            yield connection

    def _repeated(self, work: Callable[[Connection], _T], *, reading: bool, repeatable: bool) -> _T:
        """Do ``work`` in a transaction, again where the connection was lost or the server asks for it.

        Once the end of the transaction was sent, a lost connection does not tell whether it is done.
        """
        for attempt in range(1, _ATTEMPTS + 1):
            ending = False
            try:
                with self.engine.connect() as plain:
                    connection = plain.execution_options(reading=reading)
                    with connection.begin() as transaction:
                        done = work(connection)
                        ending = True
                        transaction.commit()
                        return done
            except DBAPIError as error:
                if error.connection_invalidated and ending and not repeatable:
                    raise _Unsure from error
                passing = getattr(error.orig, "sqlstate", None) in _PASSING
                if not (error.connection_invalidated or passing) or attempt == _ATTEMPTS:
                    raise
        raise AssertionError("the last attempt returns or raises")


@contextmanager
def reporting(place: Place, verb: str, consequence: str = "") -> Generator[None]:
    """Turn what fails in the block into ``StoreError``. A damaged file is examined when it is opened next."""
    cause: BaseException
    try:
        yield
        return
    except _Unsure as error:
        cause = error
        why = "the connection was lost at its very end; whether it is recorded is not known"
        consequence = ""
    except Damaged as error:
        cause, why = error, _damaged(place, str(error))
    except (SQLAlchemyError, sqlite3.Error) as error:
        cause = error.orig if isinstance(error, StatementError) and error.orig else error
        why = _damaged(place) if is_damage(cause) else reason(cause, place)
    except OSError as error:
        cause, why = error, error.strerror or str(error)
    raise StoreError(f"cannot {verb} the validation store {place.shown}: {why}{consequence}") from cause


def _let_go(connection: Connection) -> None:
    """End a transaction that has only read: what was read is whole, also where the connection is lost now."""
    with suppress(DBAPIError):
        connection.close()


class _Unsure(Exception):
    """The connection was lost while the transaction ended."""


def _damaged(place: Place, what: str = "") -> str:
    if place.path is None:
        return f"{what or 'it is damaged'} (restore the database from a back-up)"
    mark_suspect(place.path)
    return f"{what}: {DAMAGED}" if what else DAMAGED
