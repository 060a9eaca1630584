"""``tools``: the tools, the sources of more of them, and the limits that they share."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...parts.source import SOURCES, SourceConfig
from ...schema.records import (
    Record,
    key,
    made,
    many,
)
from ...schema.tagged import chosen
from ...schema.values import FLAG, ITERATIONS, MILLISECONDS
from .tool import ToolConfig

_SOURCE = chosen("type of source", SourceConfig, SOURCES)


class ToolsConfig(Record):
    """The tools and the limits that they share."""

    enabled: bool = key(FLAG, "Whether any tool is served.", default=True)
    max_iterations: int = key(
        ITERATIONS, "How many times a model may call tools before it has to answer.", default=5
    )
    default_timeout_ms: int = key(
        MILLISECONDS, "Longest time for one call of a tool, in milliseconds.", default=30_000
    )
    registry: tuple[ToolConfig, ...] = key(many(ToolConfig.shape()), "The tools.", default=())
    sources: tuple[SourceConfig, ...] = key(
        many(made(_SOURCE, definition="Source")),
        "Where more tools come from, many at once: other MCP servers, API descriptions.",
        default=(),
    )


Offer = Callable[[Sequence[ToolConfig]], None]
"""Takes all tools of a source."""
