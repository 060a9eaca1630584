"""One database: statements run in the thread that asks."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import ToolFailure
from ._rows import BUFFER, fetched
from ._statement import first_word, is_safe_on
from ._urls import without_secrets

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine
    from sqlalchemy.exc import SQLAlchemyError, StatementError

_log = logging.getLogger(__name__)
_LONGEST_REASON = 500
_STREAMED = ("SELECT", "WITH", "VALUES", "TABLE")


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement with ``:name`` parameters, and its limits."""

    text: str
    read_only: bool
    max_rows: int
    timeout_ms: int


class Database:
    """The database at ``url``. Connections are made when first needed, and kept for later statements."""

    def __init__(self, name: str, url: str, folder: Path, pool_size: int) -> None:
        self.name = name
        self._url = url
        self._folder = folder
        self._pool_size = pool_size
        self._engines: dict[bool, Engine] = {}
        self._lock = threading.Lock()

    def run(
        self, statement: Statement, values: Mapping[str, Any], stop: Callable[[], bool]
    ) -> dict[str, Any]:
        """What ``statement`` gives with ``values`` bound; a parameter without a value is null. Blocks.

        ``{"rows": [{column: value}], "row_count", "truncated"}``; of a statement that gives no rows,
        ``{"rows_affected"}``. It is one transaction: committed at the end unless ``read_only``.
        """
        from sqlalchemy.exc import SQLAlchemyError

        from ._engines import ended

        try:
            engine = self._engine(statement.read_only)
            if statement.read_only and not is_safe_on(engine.dialect.name, statement.text):
                raise _no_select(engine.dialect.name)
            with engine.connect() as connection, ended(connection, stop):
                return self._ran(connection, statement, values, stop)
        except SQLAlchemyError as error:
            raise self._failure(error, statement) from None
        except OverflowError:
            raise ToolFailure(
                f"Database '{self.name}' cannot hold an integer that large",
                error_code="database_error",
                user_action="Give a smaller number.",
            ) from None

    def close(self) -> None:
        """Let go of every connection that is not in use."""
        with self._lock:
            engines, self._engines = self._engines, {}
        for engine in engines.values():
            engine.dispose()

    def _engine(self, read_only: bool) -> Engine:
        from ._engines import engine_of

        with self._lock:
            if read_only not in self._engines:
                self._engines[read_only] = self._made(engine_of, read_only)
            return self._engines[read_only]

    def _made(self, make: Callable[..., Engine], read_only: bool) -> Engine:
        try:
            return make(self._url, self._folder, read_only=read_only, pool_size=self._pool_size)
        except ImportError as error:
            raise ToolFailure(
                f"Database '{self.name}' needs a Python package that is not installed: {error.name}",
                error_code="database_unavailable",
                user_action="Install it; for PostgreSQL: pip install 'toolspan[postgres]'.",
            ) from None

    def _ran(
        self,
        connection: Connection,
        statement: Statement,
        values: Mapping[str, Any],
        stop: Callable[[], bool],
    ) -> dict[str, Any]:
        from ._binding import bound
        from ._engines import begin

        streamed = statement.read_only and first_word(statement.text) in _STREAMED
        begin(connection, read_only=statement.read_only, timeout_ms=statement.timeout_ms, stop=stop)
        clause, parameters = bound(statement.text, values, connection.dialect.name)
        options = {"stream_results": streamed, "max_row_buffer": BUFFER}
        result = connection.execute(clause, parameters, execution_options=options)
        if not result.returns_rows:
            outcome: dict[str, Any] = {"rows_affected": max(result.rowcount, 0)}
        else:
            outcome = fetched(result, statement.max_rows, stop)
        connection.rollback() if statement.read_only else connection.commit()
        return outcome

    def _failure(self, error: SQLAlchemyError, statement: Statement) -> ToolFailure:
        """``error`` without details of the connection, of which only the type is logged."""
        from sqlalchemy.exc import StatementError

        from ._engines import was_interrupted

        cause = error.orig if isinstance(error, StatementError) else None
        if was_interrupted(cause):
            return ToolFailure(
                f"The statement took longer than {statement.timeout_ms} ms",
                error_code="timeout",
                user_action="Ask for less, or raise options.timeout_ms in the config.",
            )
        if not isinstance(error, StatementError) or error.statement is None:
            _log.error("database %r: %s", self.name, without_secrets(cause or error, self._url))
            return ToolFailure(
                f"Database '{self.name}' cannot be reached",
                error_code="database_unavailable",
                user_action=f"Check services.databases.{self.name} in the config and that it runs.",
            )
        return ToolFailure(
            f"The database refused the statement: {_reason(error)}",
            error_code="database_error",
            user_action="Check the arguments, or correct the statement in the config.",
        )


def _no_select(dialect: str) -> ToolFailure:
    return ToolFailure(
        f"On {dialect} only a SELECT without INTO is known to change nothing",
        error_code="not_read_only",
        user_action="Write the statement as such a SELECT, or set read_only: false in the config.",
    )


def _reason(error: StatementError) -> str:
    lines = str(error.orig).strip().splitlines()
    return lines[0][:_LONGEST_REASON] if lines else type(error.orig).__name__
