"""Places for a validation store: a file of SQLite, and a schema of its own in PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest

from tests.support.postgres import POSTGRES, schema

BOTH = ("sqlite", pytest.param("postgresql", marks=pytest.mark.long))
"""For ``@pytest.mark.parametrize("database", BOTH)``."""

_numbers = count(1)


@contextmanager
def place_for_a_store(database: str, folder: Path) -> Iterator[Path | str]:
    """Where no store is yet: a path in ``folder``, or a URL."""
    if database == "sqlite":
        yield folder / ".toolspan" / "validation.sqlite3"
    else:
        with postgres_place() as url:
            yield url


@contextmanager
def postgres_place(*statements: str) -> Iterator[str]:
    """A URL of a new schema in which ``statements`` ran, ``{}`` standing for it."""
    with schema(f"store_{next(_numbers)}", *statements) as name:
        yield f"{POSTGRES}?options=-csearch_path%3D{name}"
