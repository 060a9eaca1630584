"""A tool with canned answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from toolspan_server.engines.upstreams import UpstreamResult

ANY_OBJECT: Mapping[str, Any] = {"type": "object"}


def text(*said: str) -> UpstreamResult:
    """A tool's answer in text blocks."""
    return UpstreamResult([{"type": "text", "text": each} for each in said])


@dataclass(frozen=True)
class Tool:
    """A tool and what it answers to every call: ``answer``, or the error that its server fails with."""

    name: str
    schema: Mapping[str, Any] = field(default_factory=lambda: dict(ANY_OBJECT))
    answer: UpstreamResult | Exception = field(default_factory=lambda: text("done"))
    server: str = "s"
    description: str = "Does its work"
    output_schema: Mapping[str, Any] | None = None
    strict: bool = False
