"""The live databases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from ...engines.databases._database import Database
from ...errors import ToolFailure
from ...parts.environment import Environment

if TYPE_CHECKING:
    from ._database_config import DatabaseConfig


class Databases:
    """Every database of a config by name. Each connects at its first statement."""

    def __init__(self, configs: Mapping[str, DatabaseConfig], environment: Environment) -> None:
        self._databases = {
            name: Database(name, config.url, environment.config_dir, config.pool_size)
            for name, config in configs.items()
        }

    async def run(self) -> None:
        """Keep connections open until cancelled; then close them."""
        try:
            await anyio.sleep_forever()
        finally:
            with anyio.CancelScope(shield=True):
                for database in self._databases.values():
                    await anyio.to_thread.run_sync(database.close)

    def get(self, name: str) -> Database:
        """The database ``name``. Raises ``ToolFailure``."""
        try:
            return self._databases[name]
        except KeyError:
            known = ", ".join(self._databases)
            raise ToolFailure(
                f"Database '{name[:100]}' not found (known: {known})",
                error_code="database_not_found",
                user_action="Correct options.database, or add it to services.databases in the config.",
            ) from None
