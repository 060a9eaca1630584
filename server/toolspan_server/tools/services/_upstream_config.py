"""One upstream server, as ``services.upstreams`` says it."""

from __future__ import annotations

from typing import Literal

from ...schema.mcp_server import McpServerConfig
from ...schema.records import (
    choice,
    key,
    many,
    text,
)
from ...schema.values import SECONDS, integer

ITEM_NAME = text(pattern=r"^[A-Za-z0-9_-]{1,64}$")


class UpstreamConfig(McpServerConfig):
    """Another MCP server: a ``command`` that speaks over stdio, or the ``url`` of one.

    It is connected when the server starts, and again, with growing pauses, whenever it is lost.
    """

    connect_seconds: float = key(
        SECONDS, "How long it may take to start and to list its tools, in seconds.", default=10
    )
    may_ask: tuple[Literal["elicitation", "sampling", "roots"], ...] = key(
        many(choice("elicitation", "sampling", "roots")),
        "What it may ask, during a call, of the client that made the call; all else is refused.",
        default=("elicitation",),
    )
    max_tools: int = key(
        integer(1, 100_000), "Most tools that are taken from it; the rest is left out.", default=1_000
    )
    max_pages: int = key(
        integer(1, 10_000),
        "Most pages of its list of tools that are read; the rest is left out.",
        default=100,
    )
