"""Live objects that a config snapshot's tools share: created at first use, closed when it ends."""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable
from typing import Protocol, TypeVar, cast, runtime_checkable

_log = logging.getLogger(__name__)


class Closable(Protocol):
    """Has resources, such as connections, until it is closed."""

    async def aclose(self) -> None:
        """Release everything. Later use fails."""
        ...


@runtime_checkable
class Renewable(Protocol):
    """Can start anew when the config changes."""

    def renew(self) -> None:
        """Take nothing from before into what begins from now on."""
        ...


_C = TypeVar("_C", bound=Closable)


class ResourcePool:
    """Shared objects by key."""

    def __init__(self) -> None:
        self._made: dict[Hashable, Closable] = {}

    def get(self, key: Hashable, make: Callable[[], _C]) -> _C:
        """The object of that key, created if there is none."""
        if key not in self._made:
            self._made[key] = make()
        return cast("_C", self._made[key])

    def renew(self) -> None:
        """Renew those that can."""
        for made in self._made.values():
            if isinstance(made, Renewable):
                made.renew()

    async def aclose(self) -> None:
        """Close all of them, the newest first. One that fails does not keep the others open."""
        while self._made:
            key, made = self._made.popitem()
            try:
                await made.aclose()
            except Exception:
                _log.exception("%r could not be closed", key)
