"""Another wording of a tool's description, or of that of one of its parameters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from ...messages import ToolSpec

__all__ = ["MOST_CHARACTERS", "Rewording", "description_of", "reworded"]

MOST_CHARACTERS = 1_024
"""The longest description that is proposed."""


@dataclass(frozen=True, slots=True)
class Rewording:
    """``description`` in place of that of ``tool``, or of its ``parameter`` where one is named; ``reason`` is
    what speaks for it."""

    tool: str
    parameter: str
    description: str
    reason: str

    @property
    def place(self) -> str:
        """As in ``get_weather`` or ``get_weather.city``."""
        return f"{self.tool}.{self.parameter}" if self.parameter else self.tool

    def as_dict(self) -> dict[str, Any]:
        """``{"tool", "parameter", "description", "reason"}``; the parameter is ``null`` for none."""
        return {
            "tool": self.tool,
            "parameter": self.parameter or None,
            "description": self.description,
            "reason": self.reason,
        }


def description_of(tool: ToolSpec, parameter: str = "") -> str:
    """The description of ``tool``, or of its ``parameter``; empty where there is none."""
    if not parameter:
        return tool.description
    found = _properties(tool).get(parameter)
    text = cast("Mapping[str, Any]", found).get("description", "") if isinstance(found, Mapping) else ""
    return text if isinstance(text, str) else ""


def reworded(tool: ToolSpec, rewordings: Iterable[Rewording]) -> ToolSpec:
    """``tool`` with the descriptions of those ``rewordings`` that are of it; nothing else of it changes."""
    for each in rewordings:
        if each.tool != tool.name:
            continue
        if not each.parameter:
            tool = replace(tool, description=each.description)
        elif isinstance(found := _properties(tool).get(each.parameter), Mapping):
            changed = {**cast("Mapping[str, Any]", found), "description": each.description}
            properties = {**_properties(tool), each.parameter: changed}
            tool = replace(tool, schema={**tool.schema, "properties": properties})
    return tool


def _properties(tool: ToolSpec) -> Mapping[str, Any]:
    found: Any = tool.schema.get("properties")
    return cast("Mapping[str, Any]", found) if isinstance(found, Mapping) else {}
