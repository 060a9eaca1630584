"""Names of upstreams: those that tools and sources are of have to be configured."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, cast

from ...common.did_you_mean import nearest
from ...problems import Fault, Path


def unknown_upstreams(data: Any, known: Collection[str]) -> Iterator[Fault]:
    """A fault for each tool and source of raw ``data`` whose upstream is not among ``known``.

    Also one for each pinned argument that is still among the tool's parameters.
    """
    for index, entry in enumerate(_list(_in(data, "tools", "registry"))):
        place: Path = ("tools", "registry", index)
        implementation = _in(entry, "implementation")
        if _in(implementation, "type") == "mcp":
            yield from _unknown(implementation, (*place, "implementation"), known)
            yield from _still_there(entry, place)
    for index, entry in enumerate(_list(_in(data, "tools", "sources"))):
        if _in(entry, "type") == "mcp":
            yield from _unknown(entry, ("tools", "sources", index), known)


def upstream_names(data: Any) -> list[str]:
    """The names of the upstreams of raw ``data``."""
    named = _in(data, "services", "upstreams")
    return list(cast("dict[str, Any]", named)) if isinstance(named, dict) else []


def _unknown(entry: Any, place: Path, known: Collection[str]) -> Iterator[Fault]:
    name = _in(entry, "upstream")
    if isinstance(name, str) and name not in known:
        hint = nearest(name, known) if known else "add it to services.upstreams"
        yield Fault((*place, "upstream"), f"unknown upstream {str(name)!r}", hint)


def _still_there(tool: Any, place: Path) -> Iterator[Fault]:
    properties, pinned = _in(tool, "parameters", "properties"), _in(tool, "implementation", "pin")
    if isinstance(properties, dict) and isinstance(pinned, dict):
        for name in cast("dict[str, Any]", pinned):
            if name in properties:
                hint = "remove it from the parameters: the model must not see it"
                path = (*place, "implementation", "pin", name)
                yield Fault(path, f"{name!r} is pinned, but among the parameters", hint, on_key=True)


def _in(data: Any, *keys: str) -> Any:
    for key in keys:
        if not isinstance(data, dict):
            return None
        data = cast("dict[str, Any]", data).get(key)
    return data


def _list(value: Any) -> Sequence[Any]:
    return cast("Sequence[Any]", value) if isinstance(value, list) else ()
