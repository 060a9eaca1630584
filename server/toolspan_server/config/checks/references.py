"""Checks the references of tools and sources to each other and to services; each lists its own."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from ...common.did_you_mean import nearest
from ...parts.kind import KINDS
from ...parts.reference import Reference
from ...parts.source import SOURCES
from ...parts.typed import TypedConfig
from ...problems import Fault, Path
from ..raw_data import entries, inside, typed


def unknown_references(data: Any, known: Mapping[str, Collection[str]]) -> Iterator[Fault]:
    """A fault for each name in raw ``data`` that is not among the ``known`` ones: of ``tools``, of a service.

    References to types that ``known`` lacks are not checked.
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
    """Each reference in raw ``data``, with the place of the part that contains it."""
    for index, tool in enumerate(entries(inside(data, "tools", "registry"))):
        place: Path = ("tools", "registry", index)
        if (replacement := inside(tool, "deprecated", "replacement")) is not None:
            yield place, Reference(("deprecated", "replacement"), "tools", replacement)
        written = inside(tool, "implementation")
        yield from _references_of((*place, "implementation"), written, typed(written, KINDS))
    for index, source in enumerate(entries(inside(data, "tools", "sources"))):
        yield from _references_of(("tools", "sources", index), source, typed(source, SOURCES))


def _references_of(
    place: Path, written: Any, part: type[TypedConfig] | None
) -> Iterator[tuple[Path, Reference]]:
    if part is not None:
        yield from ((place, reference) for reference in part.references(written))
