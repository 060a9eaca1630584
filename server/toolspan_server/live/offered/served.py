"""What views show of resources and prompts, whoever has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from ...calls.caller import Origin
from ...calls.client import Client
from ...common.changes import Change

if TYPE_CHECKING:
    from ...resources.skills import Skills


class ServedResources(Protocol):
    """The resources that clients may read, as ``resources.live.Resources`` has them."""

    @property
    def skills(self) -> Skills | None: ...

    @property
    def completable(self) -> bool:
        """Whether there may be values to offer for variables of templates."""
        ...

    async def listed(self) -> list[dict[str, Any]]: ...

    async def listed_templates(self) -> list[dict[str, Any]]: ...

    async def contents(self, uri: str, origin: Origin, /) -> list[dict[str, Any]]: ...

    async def complete(
        self, template: str, variable: str, typed: str, given: Mapping[str, str], origin: Origin, /
    ) -> dict[str, Any]: ...

    async def follow(self, uri: str) -> None:
        """Have whoever has the resource ``uri`` tell of its changes."""
        ...

    def subscribe(self, changed: Callable[[Change], None]) -> None:
        """Tell ``changed`` of changes."""
        ...


class ServedPrompts(Protocol):
    """The prompts, as ``prompts.live.Prompts`` has them."""

    @property
    def completable(self) -> bool:
        """Whether there may be values to offer for arguments."""
        ...

    async def entries(self) -> list[dict[str, Any]]: ...

    async def get(
        self, name: str, arguments: Mapping[str, str], client: Client, origin: Origin
    ) -> dict[str, Any]: ...

    async def complete(
        self, name: str, argument: str, typed: str, given: Mapping[str, str], origin: Origin, /
    ) -> dict[str, Any]: ...
