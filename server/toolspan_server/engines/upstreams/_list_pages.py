"""A server's tools, read page by page within limits."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ...common.slices import in_slices
from ._listed_tool import MAX_DESCRIPTION_BYTES, Bounds, ListedTool, Listing

if TYPE_CHECKING:
    from mcp.client.session import ClientSession

    from ._channel import Channel

MAX_LIST_BYTES = 16 * 1024 * 1024
"""Most that one server's tools may come to, in characters of JSON."""


async def read_pages(session: ClientSession, channel: Channel, bounds: Bounds) -> Listing:
    """Every tool of the server, within ``bounds``; raises ``MCPError``. Others have their turn meanwhile."""
    channel.left_out = []
    try:
        listing = await _Reading(session, channel, bounds).pages()
    finally:
        channel.page = []
    listing.warnings += channel.left_out
    return listing


class _Reading:
    """One reading of the list."""

    def __init__(self, session: ClientSession, channel: Channel, bounds: Bounds) -> None:
        self._session = session
        self._channel = channel
        self._bounds = bounds
        self._listing = Listing()
        self._names: set[str] = set()
        self._size = 0

    async def pages(self) -> Listing:
        """Read page after page, until the last one or a limit."""
        seen: set[str | None] = set()
        cursor: str | None = None
        while True:
            seen.add(cursor)
            known, warned = len(self._names), len(self._listing.warnings)
            following = await self._page(cursor)
            if cursor == "" and len(self._names) == known:
                # An empty cursor is one, but some servers mean the end by it, and give the first page for it.
                del self._listing.warnings[warned:]
                return self._listing
            cursor = following
            if cut := self._cut(cursor, seen):
                self._listing.warnings.append(cut)
                self._listing.whole = False
                del self._listing.tools[self._bounds.tools :]
            if cut or cursor is None:
                return self._listing

    def _cut(self, cursor: str | None, seen: set[str | None]) -> str:
        """Why the list is read no further, if it is cut off."""
        if self._size > MAX_LIST_BYTES:
            return f"its tools are larger than {MAX_LIST_BYTES} bytes: cut there"
        if len(self._listing.tools) > self._bounds.tools:
            return f"more than {self._bounds.tools} tools: the rest was left out"
        if cursor is not None and cursor in seen:
            return "its tool list comes round again to a page that it already gave: stopped there"
        if cursor is not None and len(seen) >= self._bounds.pages:
            return f"more than {self._bounds.pages} pages of tools: the rest was left out"
        return ""

    async def _page(self, cursor: str | None) -> str | None:
        from mcp_types import PaginatedRequestParams

        params = None if cursor is None else PaginatedRequestParams(cursor=cursor)
        self._channel.most_tools = self._bounds.tools - len(self._listing.tools)
        page = await self._session.list_tools(params=params)
        self._listing.names_headers |= bool(self._channel.with_headers)
        refused = self._channel.with_headers - {tool.name for tool in page.tools}
        async for tool in in_slices(self._channel.page):
            if tool.name in refused:
                self._listing.warnings.append(f"tool {tool.name!r} left out: its x-mcp-header is not valid")
            elif not self._add(tool):
                break
        return page.next_cursor

    def _add(self, tool: ListedTool) -> bool:
        """Whether there was room for ``tool``, or it is there already."""
        if tool.name in self._names:
            self._listing.warnings.append(f"tool {tool.name!r} is listed twice: the first is kept")
            return True
        self._size += tool.size
        if self._size > MAX_LIST_BYTES:
            return False
        self._names.add(tool.name)
        description = _short(tool.description, tool.name, self._listing.warnings)
        self._listing.tools.append(
            tool if description is tool.description else replace(tool, description=description)
        )
        return True


def _short(description: str, name: str, warnings: list[str]) -> str:
    encoded = description.encode()
    if len(encoded) <= MAX_DESCRIPTION_BYTES:
        return description
    warnings.append(f"tool {name!r}: its description was cut to {MAX_DESCRIPTION_BYTES} bytes")
    return encoded[:MAX_DESCRIPTION_BYTES].decode("utf-8", "ignore") + " […]"
