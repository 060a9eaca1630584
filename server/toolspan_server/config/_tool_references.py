"""Tools that name other tools: what takes a deprecated one's place, what a pipeline calls."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, cast

from ..suggestions import nearest
from ._problems import Fault, Path

_REGISTRY: Path = ("tools", "registry")


def unknown_references(registry: Any, known: Collection[str]) -> Iterator[Fault]:
    """Of a raw ``registry``, the names of tools that are not in ``known``."""
    for index, tool in enumerate(_list(registry)):
        for path, name in _references(tool):
            if isinstance(name, str) and name not in known:
                yield Fault((*_REGISTRY, index, *path), f"unknown tool {str(name)!r}", nearest(name, known))


def _references(tool: Any) -> Iterator[tuple[Path, Any]]:
    yield ("deprecated", "replacement"), _inside(_inside(tool, "deprecated"), "replacement")
    implementation = _inside(tool, "implementation")
    if _inside(implementation, "type") == "pipeline":
        for at, step in enumerate(_list(_inside(implementation, "steps"))):
            yield ("implementation", "steps", at, "tool"), _inside(step, "tool")


def _inside(value: Any, key: str) -> Any:
    return cast("dict[str, Any]", value).get(key) if isinstance(value, dict) else None


def _list(value: Any) -> Sequence[Any]:
    return cast("Sequence[Any]", value) if isinstance(value, list) else []
