"""What people call the tools of a conversation, whose messages have the names that models called them by."""

from __future__ import annotations

from collections import Counter

from ..formats.names import NameTable
from .conversation import Conversation

__all__ = ["ToolNames"]


class ToolNames:
    """The tools that ``conversation`` was begun with, by the names on the wire."""

    def __init__(self, conversation: Conversation) -> None:
        self._tables = [NameTable.of(each.tools) for each in conversation.beginnings.values()]
        keys = {tool.key for table in self._tables for tool in table.tools}
        self._times = Counter(name for _, name in keys)

    def of(self, wire_name: str) -> str:
        """The tool's own name, ``server/tool`` where several servers had one of that name; ``wire_name`` of a
        tool that is not known."""
        found = (spec for table in self._tables if (spec := table.called(wire_name)) is not None)
        tool = next(found, None)
        if tool is None:
            return wire_name
        return tool.name if self._times[tool.name] == 1 else f"{tool.server}/{tool.name}"
