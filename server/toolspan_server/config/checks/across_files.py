"""Checks across a config's parts and files: unique names, known tools."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from typing import Any, cast

from ...common.did_you_mean import known_names, nearest
from ...parts.service import SERVICES
from ...problems import Fault, Path
from ..config_file import ConfigFile, registry_of, servers_of
from ..models.names import BUILTIN
from ..raw_data import inside
from .offered import unique_offers
from .pinned_arguments import visible_pins
from .prompts import check_prompts
from .references import unknown_references
from .toolset_members import unknown_members


def check_together(sources: Sequence[ConfigFile], *, skip_invalid: bool) -> None:
    """Add the faults between ``sources`` to them."""
    _unique_tools(sources, skip_invalid=skip_invalid)
    _unique_entries(sources)
    unique_offers(sources)
    _known_tools(sources)
    names: Mapping[str, Collection[str]] = {each: _names_in(sources, each) for each in SERVICES.names}
    if (tools := _known_members(sources)) is not None:
        names = {**names, "tools": tools}
    check_prompts(sources, _names_in(sources, "collections"))
    for source in sources:
        source.add(unknown_references(source.data, names))
        source.add(visible_pins(source.data))


def _unique_tools(sources: Sequence[ConfigFile], *, skip_invalid: bool) -> None:
    """Names are compared without case: some clients ignore it, and two such tools would be one there."""
    seen: dict[str, tuple[str, ConfigFile, Path]] = {}
    for source in sources:
        for index, name in _tool_names(source):
            place: Path = ("tools", "registry", index, "name")
            if skip_invalid and index in source.faulty_tools:
                continue
            if (first := seen.get(name.lower())) is None:
                seen[name.lower()] = (name, source, place)
                continue
            if source.is_full:
                return
            other, elsewhere, there = first
            same = "is already defined" if other == name else f"differs only by case from {other!r}"
            message = f"tool {name!r} {same} at {elsewhere.document.place(there)}"
            source.add([Fault(place, message, "give it another name")])


def _unique_entries(sources: Sequence[ConfigFile]) -> None:
    seen: dict[tuple[str, str], tuple[ConfigFile, Path]] = {}
    for source in sources:
        for sort, path in _entries(source):
            name = str(path[-1])
            if (first := seen.get((sort, name))) is not None:
                there = first[0].document.place(first[1], on_key=True)
                message = f"{sort} {name!r} is already defined at {there}"
                source.add([Fault(path, message, "keep one of them", on_key=True)])
            seen.setdefault((sort, name), (source, path))


def _entries(source: ConfigFile) -> Iterator[tuple[str, Path]]:
    key, servers = servers_of(source.data)
    yield from (("MCP server", (key, name)) for name in servers)
    for service in SERVICES.names:
        for name in _names_in([source], service):
            yield service.removesuffix("s"), ("services", service, name)
    toolsets = inside(source.data, "toolsets")
    if isinstance(toolsets, dict):
        yield from (("toolset", ("toolsets", name)) for name in cast("dict[str, Any]", toolsets))


def _names_in(sources: Sequence[ConfigFile], service: str) -> list[str]:
    """The names under ``service`` in raw data."""
    found = [inside(source.data, "services", service) for source in sources]
    return [name for each in found if isinstance(each, dict) for name in cast("dict[str, Any]", each)]


def _known_tools(sources: Sequence[ConfigFile]) -> None:
    if any(servers_of(source.data)[1] or inside(source.data, "tools", "sources") for source in sources):
        return
    if any(inside(source.data, "tools", "enabled") is False for source in sources):
        return
    known = {name for source in sources for _, name in _tool_names(source)}
    for source in sources:
        source.add(_unknown_tools(source, known))


def _known_members(sources: Sequence[ConfigFile]) -> Collection[str] | None:
    """Check the members of toolsets. Every tool's name, or ``None`` when sources offer further ones, or MCP
    servers that may be aggregated."""
    if any(inside(source.data, "tools", "sources") or servers_of(source.data)[1] for source in sources):
        return None
    known = {name for source in sources for _, name in _tool_names(source)}
    for source in sources:
        source.add(unknown_members(inside(source.data, "toolsets"), known))
    return known


def _unknown_tools(source: ConfigFile, known: Set[str]) -> Iterator[Fault]:
    responses = inside(source.data, "responses")
    for index, response in enumerate(cast("Sequence[Any]", responses) if isinstance(responses, list) else ()):
        allowed = inside(response, "tools", "allowed_tools")
        if inside(response, "tools", "enabled") is False:
            continue
        for at, name in enumerate(cast("Sequence[Any]", allowed) if isinstance(allowed, list) else ()):
            if isinstance(name, str) and name not in known and not name.startswith(BUILTIN):
                path: Path = ("responses", index, "tools", "allowed_tools", at)
                yield Fault(path, f"unknown tool {str(name)!r}", _hint(name, known))


def _hint(name: str, known: Set[str]) -> str:
    hint = nearest(name, known)
    return hint if not known or hint.startswith("known") else f"{hint} {known_names(sorted(known))}"


def _tool_names(source: ConfigFile) -> Iterator[tuple[int, str]]:
    for index, entry in enumerate(registry_of(source.data) or ()):
        name = inside(entry, "name")
        if isinstance(name, str):
            yield index, str(name)
