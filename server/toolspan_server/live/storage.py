"""The store of what tools keep, as the config says."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..calls.storage import Document, DocumentStore, Place
from ..common.state.folder import STORAGE_FOLDER
from ..config import Config
from ..parts.environment import Environment

if TYPE_CHECKING:
    from ..config.models.storage import StorageConfig


class ConfiguredStore:
    """The store of ``config`` in ``environment``, made at its first use."""

    def __init__(self, config: StorageConfig | None, environment: Environment) -> None:
        self._config = config
        self._environment = environment

    def read(self, place: Place) -> Document:
        """See ``DocumentStore``."""
        return self._store.read(place)

    def replace(self, place: Place, version: str, data: Mapping[str, Any]) -> bool:
        """See ``DocumentStore``."""
        return self._store.replace(place, version, data)

    async def aclose(self) -> None:
        """Close its connections, if it was used."""
        close = getattr(vars(self).get("_store"), "close", None)
        if close is not None:
            import anyio.to_thread

            await anyio.to_thread.run_sync(close)

    @cached_property
    def _store(self) -> DocumentStore:
        from ..engines.storage import FileStore, SqlStore, StorageLimits

        config = self._config
        limits = StorageLimits()
        if config is not None:
            limits = StorageLimits(config.document_bytes, config.user_bytes)
        if config is None or config.url is None:
            return FileStore(self._environment.state_dir / STORAGE_FOLDER, limits)
        return SqlStore(config.url, self._environment.config_dir, limits)


def store_of(config: Config, environment: Environment) -> DocumentStore:
    """The store of ``config``, the same for all configs that say the same of it."""
    storage = config.storage
    said = None if storage is None else (storage.url, storage.document_bytes, storage.user_bytes)
    return environment.shared.get((ConfiguredStore, said), lambda: ConfiguredStore(storage, environment))
