"""A server's tools, read page by page within limits."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcp.client.session import ClientSession

    from ._channel import Channel

MAX_DESCRIPTION_BYTES = 4_096

MAX_LIST_BYTES = 16 * 1024 * 1024
"""Most that the schemas and details of one server's tools may come to, in bytes of JSON."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How many tools and pages of them are read of one server."""

    tools: int = 1_000
    pages: int = 100


@dataclass(frozen=True, slots=True)
class ListedTool:
    """A tool as its server lists it.

    ``schema`` is the JSON Schema of its arguments and ``details`` what else it came with (``title``,
    ``annotations``, ``outputSchema``, ``icons``, ``_meta``); of both only the form of a JSON object and of
    ``name`` are known to be right.
    """

    name: str
    description: str
    schema: Mapping[str, Any]
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(slots=True)
class Listing:
    """A server's tools, and what was left out or cut, in words."""

    tools: list[ListedTool] = field(default_factory=list[ListedTool])
    warnings: list[str] = field(default_factory=list[str])


async def list_tools(session: ClientSession, channel: Channel, bounds: Bounds) -> Listing:
    """Every tool of the server, within ``bounds``; raises ``MCPError``."""
    from mcp_types import PaginatedRequestParams

    listing = Listing()
    channel.left_out, channel.details = [], {}
    names: set[str] = set()
    size = 0
    seen: set[str | None] = set()
    cursor: str | None = None
    while cursor not in seen and len(seen) < bounds.pages:
        seen.add(cursor)
        page = await session.list_tools(params=PaginatedRequestParams(cursor=cursor) if cursor else None)
        for tool in page.tools:
            if tool.name in names:
                listing.warnings.append(f"tool {tool.name!r} is listed twice: the first is kept")
                continue
            names.add(tool.name)
            description = _cut(tool.description or "", tool.name, listing.warnings)
            details = channel.details.get(tool.name, {})
            size += len(json.dumps([tool.input_schema, details]))
            if size > MAX_LIST_BYTES:
                listing.warnings.append(f"its tools are larger than {MAX_LIST_BYTES} bytes: cut there")
                listing.warnings += channel.left_out
                return listing
            listing.tools.append(ListedTool(tool.name, description, tool.input_schema, details))
        cursor = page.next_cursor
        if not cursor or len(listing.tools) > bounds.tools:
            break
    else:
        again = "its tool list comes round again to a page that it already gave: stopped there"
        endless = f"more than {bounds.pages} pages of tools: the rest was left out"
        listing.warnings.append(again if cursor in seen else endless)
    if len(listing.tools) > bounds.tools:
        del listing.tools[bounds.tools :]
        listing.warnings.append(f"more than {bounds.tools} tools: the rest was left out")
    listing.warnings += channel.left_out
    return listing


def _cut(description: str, name: str, warnings: list[str]) -> str:
    encoded = description.encode()
    if len(encoded) <= MAX_DESCRIPTION_BYTES:
        return description
    warnings.append(f"tool {name!r}: its description was cut to {MAX_DESCRIPTION_BYTES} bytes")
    return encoded[:MAX_DESCRIPTION_BYTES].decode("utf-8", "ignore") + " […]"
