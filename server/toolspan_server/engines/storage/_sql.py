"""Documents in a table of a SQL database."""

from __future__ import annotations

import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...calls.storage import Document, Place
from ...common.file_names import hashed
from ...common.state.folder import private_folder
from ...common.state.private_files import private_database, real_file
from ...errors import ToolFailure
from ..databases._urls import sqlite_file, without_secrets
from ._documents import decoded, encoded, version_of
from ._failures import failed, full
from ._limits import StorageLimits, blocks

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from ._rows import Rows


class SqlStore:
    """Documents in the database at ``url``; a path of SQLite starts at ``folder``.

    Nothing is connected before the first use, which makes the table ``toolspan_storage`` if it is not there.
    """

    def __init__(
        self, url: str, folder: Path, limits: StorageLimits | None = None, pool_size: int = 5
    ) -> None:
        self._url = url
        self._folder = folder
        self._limits = limits or StorageLimits()
        self._pool_size = pool_size
        self._lock = threading.Lock()
        self._rows: Rows | None = None

    def read(self, place: Place) -> Document:
        """The document at ``place``, an empty one if there is none. Raises ``ToolFailure``."""
        with self._failing("read"):
            stored = self._open().read(_key(place))
        return decoded(stored, f"{_key(place)} of toolspan_storage")

    def replace(self, place: Place, version: str, data: Mapping[str, Any]) -> bool:
        """Put ``data`` there if its version is still ``version``; returns whether it was.

        Raises ``ToolFailure``, and then the document is as it was.
        """
        new = encoded(data, self._limits.document_bytes)
        key = _key(place)
        with self._failing("written"):
            rows = self._open()
            if new is None:
                return rows.remove(key, version)
            self._check_quota(rows, hashed(place.user), key, len(new))
            values = {"document": new.decode(), "version": version_of(new), "size": blocks(len(new))}
            if version:
                return rows.update(key, version, values)
            return rows.insert(key, hashed(place.user), place, values)

    def close(self) -> None:
        """Let go of every connection that is not in use."""
        with self._lock:
            rows, self._rows = self._rows, None
        if rows is not None:
            rows.engine.dispose()

    def _check_quota(self, rows: Rows, owner: str, key: str, size: int) -> None:
        others, own = rows.sizes(owner, key)
        used = others + blocks(size)
        if used > self._limits.user_bytes and blocks(size) > own:
            raise full(used, self._limits.user_bytes)

    def _open(self) -> Rows:
        from ._rows import Rows

        with self._lock:
            if self._rows is None:
                self._rows = Rows(self._engine())
            return self._rows

    def _engine(self) -> Engine:
        from ..databases._engines import engine_of

        file = sqlite_file(self._url)
        if file is not None:
            path = real_file(self._folder / file)
            private_folder(path.parent)
            private_database(path)
        return engine_of(self._url, self._folder, read_only=False, pool_size=self._pool_size)

    @contextmanager
    def _failing(self, what: str) -> Generator[None]:
        from sqlalchemy.exc import SQLAlchemyError, StatementError

        try:
            yield
        except SQLAlchemyError as error:
            cause = error.orig if isinstance(error, StatementError) else None  # it shows no document
            raise failed(what, "storage.url", without_secrets(cause or error, self._url)) from None
        except OSError as error:
            raise failed(what, "storage.url", error.strerror or str(error)) from None
        except ImportError as error:
            raise ToolFailure(
                f"The storage of tools needs a Python package that is not installed: {error.name}",
                error_code="storage_error",
                user_action="Install it; for PostgreSQL: pip install 'toolspan[postgres]'.",
            ) from None


def _key(place: Place) -> str:
    """What identifies the document: it holds nothing that a database might fold or cut."""
    return hashed("".join(f"{len(part)}:{part}" for part in place))
