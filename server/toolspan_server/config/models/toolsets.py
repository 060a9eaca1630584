"""Toolsets: named subsets of the tools."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from fnmatch import fnmatchcase
from typing import Annotated

from ...schema.constraints import Limits
from ...schema.keys import CHOICE, DATA
from ...schema.records import (
    Record,
    key,
)
from .auth import ToolsetAuthConfig

_Member = Annotated[str, Limits(least=1, most=200)]


class ToolsetConfig(Record):
    """A subset of the tools, served at /mcp/NAME; all of them without tools and tags."""

    tools: tuple[_Member, ...] | None = key(
        "Names of tools to include, or globs such as weather_*.", default=None, inert=CHOICE
    )
    tags: tuple[_Member, ...] | None = key(
        "Tags: tools with any of them are included as well.", default=None, inert=CHOICE
    )
    exclude: tuple[_Member, ...] = key("Names of tools to exclude, or globs.", default=(), inert=CHOICE)
    description: str | None = key(
        "The toolset's description, part of the server's.",
        least=1,
        most=2_000,
        default=None,
        served=True,
        inert=DATA,
    )
    instructions: str | None = key(
        "Instructions for the toolset's clients; the config's when absent.",
        default=None,
        served=True,
        inert=DATA,
    )

    auth: ToolsetAuthConfig | None = key(
        "Authentication of the toolset over HTTP, in addition to auth.", default=None
    )

    def has(self, name: str, tags: Collection[str]) -> bool:
        """Whether the toolset includes the tool ``name`` with ``tags``."""
        if any(fnmatchcase(name, each) for each in self.exclude):
            return False
        if self.tools is None and self.tags is None:
            return True
        return any(fnmatchcase(name, each) for each in self.tools or ()) or any(
            tag in tags for tag in self.tags or ()
        )

    def without_match(self, tools: Mapping[str, Collection[str]]) -> list[str]:
        """Messages for those of ``tools``, ``tags`` and ``exclude`` that match none of ``tools`` (name →
        tags).
        """
        known = {tag for tags in tools.values() for tag in tags}
        named = [*(self.tools or ()), *self.exclude]
        members = (each for each in named if not any(fnmatchcase(name, each) for name in tools))
        return [*map(repr, members), *(f"the tag {tag!r}" for tag in self.tags or () if tag not in known)]
