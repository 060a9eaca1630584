"""What tools and sources name of each other and of services: each says for itself what it names."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Protocol, cast

from ...common.did_you_mean import nearest
from ...parts.kind import KINDS
from ...parts.reference import Reference
from ...parts.source import SOURCES
from ...problems import Fault, Path


class _Referring(Protocol):
    @classmethod
    def references(cls, written: Mapping[str, Any]) -> Any: ...


class _Parts(Protocol):
    @property
    def names(self) -> Sequence[str]: ...

    def config(self, name: str) -> type[_Referring]: ...


def unknown_references(data: Any, known: Mapping[str, Collection[str]]) -> Iterator[Fault]:
    """A fault for each name in raw ``data`` that is not among the ``known`` ones: of ``tools``, of a service.

    What ``known`` lacks is not looked at.
    """
    for place, reference in references(data):
        path, to, name = reference
        if to not in known or not isinstance(name, str) or name in known[to]:
            continue
        if to == "tools":
            yield Fault((*place, *path), f"unknown tool {str(name)!r}", nearest(name, known[to]))
        else:
            hint = nearest(name, known[to]) if known[to] else f"add it to services.{to}"
            yield Fault((*place, *path), f"unknown {to.removesuffix('s')} {str(name)!r}", hint)


def references(data: Any) -> Iterator[tuple[Path, Reference]]:
    """Each reference in raw ``data``, with the place of the part that says it."""
    tools = inside(data, "tools")
    for index, tool in enumerate(entries(inside(tools, "registry"))):
        place: Path = ("tools", "registry", index)
        replacement = inside(inside(tool, "deprecated"), "replacement")
        yield place, Reference(("deprecated", "replacement"), "tools", replacement)
        yield from _references_of((*place, "implementation"), inside(tool, "implementation"), KINDS)
    for index, source in enumerate(entries(inside(tools, "sources"))):
        yield from _references_of(("tools", "sources", index), source, SOURCES)


def _references_of(place: Path, part: Any, parts: _Parts) -> Iterator[tuple[Path, Reference]]:
    name = inside(part, "type")
    if isinstance(name, str) and name in parts.names:
        yield from ((place, reference) for reference in parts.config(name).references(part))


def inside(value: Any, key: str) -> Any:
    """What raw ``value`` has under ``key``."""
    return cast("dict[str, Any]", value).get(key) if isinstance(value, dict) else None


def entries(value: Any) -> Sequence[Any]:
    """Raw ``value`` when it is a list; else none."""
    return cast("Sequence[Any]", value) if isinstance(value, list) else []
