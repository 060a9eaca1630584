"""``services.databases``: SQL databases that tools can query."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from typing_extensions import override

from ...parts.environment import Environment
from ...parts.service import ServiceConfig
from ._database_config import DatabaseConfig, ItemName

if TYPE_CHECKING:
    from ._databases import Databases


class Config(ServiceConfig):
    """``{"main": {"url": "sqlite:///data.db"}}``: the databases by name."""

    about = "SQL databases that tools can ask, by name."

    root: dict[ItemName, DatabaseConfig]

    @override
    def hosts(self) -> Iterable[tuple[str, str]]:
        """Their drivers send passwords of the environment (PGPASSWORD) there on their own."""
        return ((name, host) for name, database in self.root.items() if (host := database.host) is not None)

    @override
    def paths(self) -> Iterable[tuple[str, str]]:
        return ((name, file) for name, database in self.root.items() if (file := database.file) is not None)

    @override
    def build(self, environment: Environment) -> Databases:
        from ._databases import Databases

        return Databases(self.root, environment)
