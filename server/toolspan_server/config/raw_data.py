"""Access to raw config data, which may be of any shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeVar, cast

C_co = TypeVar("C_co", covariant=True)


class _Parts(Protocol[C_co]):
    @property
    def names(self) -> Sequence[str]: ...

    def config(self, name: str) -> C_co: ...


def inside(value: Any, *keys: str | int) -> Any:
    """The value in raw ``value`` under ``keys``, one inside the other; ``None`` when there is none."""
    for key in keys:
        if isinstance(value, dict):
            value = cast("Any", value).get(key)
        elif isinstance(value, list) and isinstance(key, int):
            value = cast("Any", value)[key]
        else:
            return None
    return value


def entries(value: Any) -> Sequence[Any]:
    """Raw ``value`` when it is a list; else an empty one."""
    return cast("Sequence[Any]", value) if isinstance(value, list) else []


def typed(written: Any, parts: _Parts[C_co]) -> C_co | None:
    """The config of the one of ``parts`` that ``type`` of ``written`` names, if any."""
    name = cast("Any", written).get("type") if isinstance(written, dict) else None
    return parts.config(name) if isinstance(name, str) and name in parts.names else None
