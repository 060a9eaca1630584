"""PostgreSQL at 127.0.0.1:5432: a schema for the tests of one module and process."""

from __future__ import annotations

import os
import socket
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

POSTGRES = "postgresql://postgres@127.0.0.1:5432/test"


def own_name(name: str) -> str:
    """The name of the schema ``name`` of this process: several may test at the same time."""
    return f"{name}_{os.getpid()}"


@contextmanager
def schema(name: str, *statements: str) -> Iterator[str]:
    """The name of a new schema in which ``statements`` ran, ``{}`` standing for it; it is dropped at the end.

    Without PostgreSQL there, the test is skipped with a warning.
    """
    try:
        socket.create_connection(("127.0.0.1", 5432), 1).close()
    except OSError:
        warnings.warn("PostgreSQL is not at 127.0.0.1:5432: its tests are skipped", stacklevel=2)
        pytest.skip("PostgreSQL is not at 127.0.0.1:5432")
    import psycopg

    own = own_name(name)
    with psycopg.connect(POSTGRES, autocommit=True) as connection:
        connection.execute(f"DROP SCHEMA IF EXISTS {own} CASCADE".encode())
        connection.execute(f"CREATE SCHEMA {own}".encode())
        for statement in statements:
            connection.execute(statement.replace("{}", own).encode())
        yield own
        connection.execute(f"DROP SCHEMA {own} CASCADE".encode())
