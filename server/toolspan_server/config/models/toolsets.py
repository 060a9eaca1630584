"""Toolsets: named subsets of the tools."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from fnmatch import fnmatchcase
from typing import Annotated

from ...schema.constraints import Limits
from ...schema.records import (
    Record,
    key,
)
from .auth import ToolsetAuthConfig

_Member = Annotated[str, Limits(least=1, most=200)]


class ToolsetConfig(Record):
    """A part of the tools that clients find at /mcp/NAME; all of them without tools and tags."""

    tools: tuple[_Member, ...] | None = key(
        "Names of tools, or globs such as weather_*, that belong to it.",
        default=None,
    )
    tags: tuple[_Member, ...] | None = key(
        "Tags: a tool that has any of them belongs to it as well.", default=None
    )
    exclude: tuple[_Member, ...] = key(
        "Names of tools, or globs, that do not belong to it nevertheless.", default=()
    )
    description: str | None = key(
        "What it is for, in the server's introduction.", least=1, most=2_000, default=None, served=True
    )
    instructions: str | None = key(
        "What the server tells the toolset's clients about itself; the config's instructions when absent.",
        default=None,
        served=True,
    )

    auth: ToolsetAuthConfig | None = key("Who may use it over HTTP, beside what auth says.", default=None)

    def has(self, name: str, tags: Collection[str]) -> bool:
        """Whether the tool ``name`` with ``tags`` belongs to it."""
        if any(fnmatchcase(name, each) for each in self.exclude):
            return False
        if self.tools is None and self.tags is None:
            return True
        return any(fnmatchcase(name, each) for each in self.tools or ()) or any(
            tag in tags for tag in self.tags or ()
        )

    def without_match(self, tools: Mapping[str, Collection[str]]) -> list[str]:
        """What of ``tools``, ``tags`` and ``exclude`` matches none of ``tools`` (name → tags), in words."""
        known = {tag for tags in tools.values() for tag in tags}
        named = [*(self.tools or ()), *self.exclude]
        members = (each for each in named if not any(fnmatchcase(name, each) for name in tools))
        return [*map(repr, members), *(f"the tag {tag!r}" for tag in self.tags or () if tag not in known)]
