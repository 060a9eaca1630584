"""Checks that toolsets name existing tools."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, cast

from ...common.did_you_mean import nearest
from ...problems import Fault, Path

_GLOB = frozenset("*?[")


def unknown_members(toolsets: Any, known: Collection[str]) -> Iterator[Fault]:
    """Names in raw ``toolsets`` that no tool in ``known`` has; globs may match nothing."""
    for name, toolset in _items(toolsets):
        for part in ("tools", "exclude"):
            members = _items(toolset, only=part)
            for index, member in enumerate(members):
                if isinstance(member, str) and not _GLOB & set(member) and member not in known:
                    path: Path = ("toolsets", name, part, index)
                    yield Fault(path, f"unknown tool {str(member)!r}", nearest(member, known))


def _items(value: Any, only: str | None = None) -> list[Any]:
    """The items of an object, or of the list in it under ``only``; none for other values."""
    if not isinstance(value, dict):
        return []
    found = cast("dict[str, Any]", value)
    if only is None:
        return list(found.items())
    inside = found.get(only)
    return inside if isinstance(inside, list) else []  # pyright: ignore[reportUnknownVariableType]  # of anything
