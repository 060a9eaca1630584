"""Steps from each version of the store's tables to the next one, by Alembic, the same for every database.

A step is a module of ``versions``; its revision is the store's version in four digits. Each is left as it is
once it was released.
"""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection

__all__ = ["upgrade"]


def upgrade(connection: Connection, found: int, target: str = "head") -> None:
    """Bring the tables of version ``found`` (0: there are none) up to ``target``, in the transaction of
    ``connection``."""
    from alembic import command
    from alembic.config import Config

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    if found and not connection.dialect.has_table(connection, _version_table()):
        command.stamp(config, f"{found:04}")
    command.upgrade(config, target)


def _version_table() -> str:
    from ..tables import VERSION_TABLE

    return VERSION_TABLE
