"""The list of a server's tools."""

from __future__ import annotations

from dataclasses import dataclass, field

from ._listed_tool import ListedTool


@dataclass(slots=True)
class Listing:
    """A server's tools, and what was left out or cut, in words. ``whole``: nothing was cut off the list."""

    tools: list[ListedTool] = field(default_factory=list[ListedTool])
    warnings: list[str] = field(default_factory=list[str])
    whole: bool = True
