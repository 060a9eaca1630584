"""The config of one SQL database in ``services.databases``."""

from __future__ import annotations

from typing import Annotated

from ...engines.databases._urls import checked_url, host_of
from ...schema.constraints import Limits
from ...schema.records import (
    Record,
    key,
)

ItemName = Annotated[str, Limits(pattern=r"^[A-Za-z0-9_-]{1,64}$")]


class DatabaseConfig(Record):
    """One database."""

    url: str = key(
        "The database: sqlite:///FILE (relative to the config's folder, or sqlite:////absolute), "
        "postgresql://USER:${PASSWORD}@HOST/NAME, or any SQLAlchemy URL whose driver is installed.",
        least=1,
        most=2_000,
        check=checked_url,
        hidden=True,
    )
    pool_size: int = key(
        "Most concurrent connections; further statements wait.", least=1, most=100, default=5
    )
    description: str | None = key("A description of the content, for people.", default=None)

    @property
    def host(self) -> str | None:
        """The host of the database; ``None`` for a file."""
        return host_of(self.url)

    @property
    def file(self) -> str | None:
        """The file of a SQLite database; ``None`` for others, and for one in memory."""
        scheme, _, rest = self.url.partition("://")
        file = rest.partition("?")[0].removeprefix("/")
        return file if scheme.startswith("sqlite") and file not in ("", ":memory:") else None
