"""Tools that name other tools: what takes a deprecated one's place, what a pipeline calls."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, cast

from ...common.did_you_mean import nearest
from ...problems import Fault, Path

_REGISTRY: Path = ("tools", "registry")


def unknown_references(registry: Any, known: Collection[str]) -> Iterator[Fault]:
    """Of a raw ``registry``, the names of tools that are not in ``known``."""
    for index, tool in enumerate(entries(registry)):
        for path, name in _references(tool):
            if isinstance(name, str) and name not in known:
                yield Fault((*_REGISTRY, index, *path), f"unknown tool {str(name)!r}", nearest(name, known))


def _references(tool: Any) -> Iterator[tuple[Path, Any]]:
    yield ("deprecated", "replacement"), inside(inside(tool, "deprecated"), "replacement")
    implementation = inside(tool, "implementation")
    if inside(implementation, "type") == "pipeline":
        for at, step in enumerate(entries(inside(implementation, "steps"))):
            yield ("implementation", "steps", at, "tool"), inside(step, "tool")


def inside(value: Any, key: str) -> Any:
    """What raw ``value`` has under ``key``."""
    return cast("dict[str, Any]", value).get(key) if isinstance(value, dict) else None


def entries(value: Any) -> Sequence[Any]:
    """Raw ``value`` when it is a list; else none."""
    return cast("Sequence[Any]", value) if isinstance(value, list) else []
