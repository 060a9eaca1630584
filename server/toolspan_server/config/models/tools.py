"""``tools``: the tools, the sources of further ones, and their common limits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated

from ...parts.source import SOURCES, SourceConfig
from ...schema.constraints import Limits, PlainValidator
from ...schema.keys import PARTS, at_most, only
from ...schema.records import (
    Record,
    key,
)
from ...schema.tagged import chosen
from ...schema.values import Iterations, Milliseconds
from .tool import ToolConfig

Calls = Annotated[int, Limits(1, 64)]
Repairs = Annotated[int, Limits(0, 100)]
ITERATIONS = 5
"""In how many turns a model may call tools, when nothing else is said."""
WORKSPACE_ITERATIONS = 100
"""The same where it works in a workspace."""
_SOURCE = chosen("type of source", SourceConfig, SOURCES)


class ToolsConfig(Record):
    """The tools and their common limits."""

    enabled: bool = key("Whether any tool is served.", default=True, inert=only(False, True))
    max_iterations: Iterations | None = key(
        "In how many turns a model may call tools before it has to answer; when absent "
        f"{ITERATIONS}, and {WORKSPACE_ITERATIONS} where it works in a workspace.",
        default=None,
        inert=at_most(ITERATIONS),
    )
    max_parallel: Calls = key(
        "Most calls of one turn that ask and chat make at the same time; a tool that is not idempotent, or "
        "is sequential, runs alone.",
        default=16,
        inert=at_most(16),
    )
    repair_attempts: Repairs = key(
        "In how many turns of a question a model may send arguments that do not fit, and correct them, "
        "before it has to answer without tools.",
        default=3,
        inert=at_most(3),
    )
    default_timeout_ms: Milliseconds = key(
        "Longest time for one call of a tool, in milliseconds.", default=30_000, inert=at_most(30_000)
    )
    registry: tuple[ToolConfig, ...] = key("The tools.", default=(), inert=PARTS)
    sources: tuple[Annotated[SourceConfig, PlainValidator(_SOURCE, {"definition": "Source"})], ...] = key(
        "Sources of many tools at once: other MCP servers, API descriptions.", default=(), inert=PARTS
    )


Offer = Callable[[Sequence[ToolConfig]], None]
"""Receives all tools of a source."""
