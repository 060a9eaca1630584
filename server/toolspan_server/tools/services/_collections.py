"""The live document collections."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio

from ...common.supervision import kept
from ...engines.documents import Collection, Hit, SearchResult
from ...errors import ToolFailure
from ...parts.environment import Environment

if TYPE_CHECKING:
    from ._collection_config import CollectionConfig


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """The best passages, best first, each with its collection's name.

    ``total`` counts all matches; ``unavailable`` lists the collections that could not be searched, with the
    reason.
    """

    hits: tuple[tuple[str, Hit], ...]
    total: int
    unavailable: Mapping[str, str]


class Collections:
    """Every collection of a config by name: indexed, kept current and searched."""

    def __init__(self, configs: Mapping[str, CollectionConfig], environment: Environment) -> None:
        self.collections = {name: _collection(name, config, environment) for name, config in configs.items()}

    async def run(self) -> None:
        """Keep every collection current until cancelled."""
        async with anyio.create_task_group() as group:
            for collection in self.collections.values():
                group.start_soon(kept("a document collection", collection.run))

    async def search(self, query: str, *, collection: str | None = None, limit: int = 5) -> SearchAnswer:
        """The passages that match any word of ``query``, in ``collection`` or in all.

        Raises ``ToolFailure`` for an unknown collection, and when none could be searched.
        """
        if not self.collections:
            raise ToolFailure(
                "No document collection is configured",
                error_code="service_not_configured",
                user_action="Add one to services.collections in the config and start the server again.",
            )
        asked = self.collections if collection is None else {collection: self._named(collection)}
        found: dict[str, SearchResult] = {}
        failed: dict[str, ToolFailure] = {}

        async def ask(name: str, one: Collection) -> None:
            try:
                found[name] = await one.search(query, limit)
            except ToolFailure as failure:
                failed[name] = failure

        async with anyio.create_task_group() as group:
            for name, one in asked.items():
                group.start_soon(ask, name, one)
        if failed and not found:
            raise next(iter(failed.values()))
        hits = sorted(
            ((name, hit) for name, one in found.items() for hit in one.hits), key=lambda hit: -hit[1].score
        )
        unavailable = {name: failure.error for name, failure in failed.items()}
        return SearchAnswer(tuple(hits[:limit]), sum(one.total for one in found.values()), unavailable)

    def state(self) -> dict[str, Any]:
        """Their state: ``ready``, or ``waiting`` while one is indexed for the first time, or ``failed``."""
        each = {name: _state(one) for name, one in self.collections.items()}
        found = {one["state"] for one in each.values()}
        overall = next((state for state in ("failed", "waiting") if state in found), "ready")
        return {"state": overall, "collections": each}

    def _named(self, name: str) -> Collection:
        try:
            return self.collections[name]
        except KeyError:
            raise ToolFailure(
                f"Collection '{name[:100]}' not found (known: {', '.join(self.collections)})",
                error_code="collection_not_found",
                user_action="Use one of the known collections, or leave 'collection' out to search all.",
            ) from None


def _state(collection: Collection) -> dict[str, str]:
    if collection.latest is None:
        return {"state": "waiting"}
    problem = collection.latest.description
    return {"state": "failed", "error": problem} if problem else {"state": "ready"}


def _collection(name: str, config: CollectionConfig, environment: Environment) -> Collection:
    root = (environment.config_dir / config.path).absolute()
    state_dir = (environment.state_dir / "collections").absolute()
    return Collection(name, root, state_dir, include=config.include, exclude=config.exclude)
