"""Arguments that are pinned: the model must not see them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from ...problems import Fault
from .references import entries, inside


def visible_pins(data: Any) -> Iterator[Fault]:
    """A fault for each pinned argument in raw ``data`` that is still among its tool's parameters."""
    for index, tool in enumerate(entries(inside(inside(data, "tools"), "registry"))):
        properties = inside(inside(tool, "parameters"), "properties")
        implementation = inside(tool, "implementation")
        pinned = inside(implementation, "pin") if inside(implementation, "type") == "mcp" else None
        if isinstance(properties, dict) and isinstance(pinned, dict):
            for name in cast("dict[str, Any]", pinned):
                if name in properties:
                    hint = "remove it from the parameters: the model must not see it"
                    path = ("tools", "registry", index, "implementation", "pin", name)
                    yield Fault(path, f"{name!r} is pinned, but among the parameters", hint, on_key=True)
