"""The config of one SQL database in ``services.databases``."""

from __future__ import annotations

import re
from importlib.util import find_spec
from typing import Annotated
from urllib.parse import urlsplit

from ...problems import Fault, Faulty
from ...schema.constraints import Limits
from ...schema.records import (
    Record,
    key,
)

ItemName = Annotated[str, Limits(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
_URL = re.compile(r"(postgres|[a-z][a-z0-9]*)(?:\+[a-z0-9_]+)?://(.*)\Z", re.DOTALL)


def _url(written: str) -> str:
    """Raises errors that never show ``written``: it may hold a password."""
    found = _URL.match(written)
    if found is None:
        raise Faulty(Fault((), "is no database URL", "write one such as sqlite:///data.db"))
    engine, rest = found.groups()
    if engine == "sqlite" and rest.split("?")[0] in ("", "/", "/:memory:"):
        raise Faulty(
            Fault((), "names no file: a database in memory is always empty", "write sqlite:///data.db")
        )
    if engine in ("postgres", "postgresql") and find_spec("psycopg") is None:
        raise Faulty(Fault((), "needs the package psycopg", "pip install 'toolspan[postgres]'"))
    return written


class DatabaseConfig(Record):
    """One database."""

    url: str = key(
        "The database: sqlite:///FILE (relative to the config's folder, or sqlite:////absolute), "
        "postgresql://USER:${PASSWORD}@HOST/NAME, or any SQLAlchemy URL whose driver is installed.",
        least=1,
        most=2_000,
        check=_url,
        hidden=True,
    )
    pool_size: int = key(
        "Most concurrent connections; further statements wait.", least=1, most=100, default=5
    )
    description: str | None = key("A description of the content, for people.", default=None)

    @property
    def host(self) -> str | None:
        """The host of the database; ``None`` for a file."""
        if self.url.startswith("sqlite"):
            return None
        try:
            return urlsplit(self.url).hostname or "the server of its URL"
        except ValueError:
            return "the server of its URL"
