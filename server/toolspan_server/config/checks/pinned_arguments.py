"""Checks that pinned arguments are hidden from the model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...parts.kind import KINDS
from ...problems import Fault
from ..raw_data import entries, inside, typed


def visible_pins(data: Any) -> Iterator[Fault]:
    """A fault for each pinned argument in raw ``data`` that is still among its tool's parameters."""
    for index, tool in enumerate(entries(inside(data, "tools", "registry"))):
        properties = inside(tool, "parameters", "properties")
        implementation = inside(tool, "implementation")
        kind = typed(implementation, KINDS)
        if kind is None or not isinstance(properties, dict):
            continue
        for path in kind.pinned(implementation):
            if path[-1] in properties:
                hint = "remove it from the parameters: the model must not see it"
                message = f"{path[-1]!r} is pinned, but among the parameters"
                yield Fault(("tools", "registry", index, "implementation", *path), message, hint, on_key=True)
