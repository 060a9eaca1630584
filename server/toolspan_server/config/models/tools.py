"""``tools``: the tools, the sources of further ones, and their common limits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated

from ...parts.source import SOURCES, SourceConfig
from ...schema.constraints import PlainValidator
from ...schema.records import (
    Record,
    key,
)
from ...schema.tagged import chosen
from ...schema.values import Iterations, Milliseconds
from .tool import ToolConfig

_SOURCE = chosen("type of source", SourceConfig, SOURCES)


class ToolsConfig(Record):
    """The tools and their common limits."""

    enabled: bool = key("Whether any tool is served.", default=True)
    max_iterations: Iterations = key(
        "In how many turns a model may call tools before it has to answer.", default=5
    )
    default_timeout_ms: Milliseconds = key(
        "Longest time for one call of a tool, in milliseconds.", default=30_000
    )
    registry: tuple[ToolConfig, ...] = key("The tools.", default=())
    sources: tuple[Annotated[SourceConfig, PlainValidator(_SOURCE, {"definition": "Source"})], ...] = key(
        "Sources of many tools at once: other MCP servers, API descriptions.",
        default=(),
    )


Offer = Callable[[Sequence[ToolConfig]], None]
"""Receives all tools of a source."""
