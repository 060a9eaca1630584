"""The entry of a tool in ``tools/list``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...config import ToolConfig
from ...config.models.tool import META_PREFIX
from ...parts.reach import Reach

PROBLEMS = f"{META_PREFIX}problems"
"""The key of a list's ``_meta`` with what is missing from it and why: a list of sentences."""

_HINTS = {
    "title": "title",
    "read_only": "readOnlyHint",
    "destructive": "destructiveHint",
    "idempotent": "idempotentHint",
    "open_world": "openWorldHint",
}


def described(tool: ToolConfig, hints: Mapping[str, Any], reach: Reach = "outside") -> dict[str, Any]:
    """One entry of ``tools/list``, with ``hints`` as its annotations, the same for every revision: unknown
    members do no harm.

    ``annotations`` exist since 2025-03-26, ``title``, ``outputSchema`` and ``_meta`` since 2025-06-18,
    ``icons`` since 2025-11-25. What MCP has no place for is in ``_meta``, under ``META_PREFIX``, with how far
    calls ``reach`` where that is not outside.
    """
    entry: dict[str, Any] = {
        "name": tool.name,
        "description": tool.description + _deprecation(tool),
        "inputSchema": tool.parameters,
    }
    more = {
        "title": tool.title or tool.display_name,
        "icons": [_renamed(icon.model_dump(), {"mime_type": "mimeType"}) for icon in tool.icons],
        "annotations": _renamed(dict(hints), _HINTS),
        "outputSchema": tool.output_schema,
        "_meta": _meta(tool, reach),
    }
    entry.update((member, value) for member, value in more.items() if value)
    return entry


def _deprecation(tool: ToolConfig) -> str:
    if tool.deprecated is None:
        return ""
    instead = f" Use '{tool.deprecated.replacement}' instead." if tool.deprecated.replacement else ""
    why = f" {tool.deprecated.message}" if tool.deprecated.message else ""
    return f"\n\nDeprecated.{instead}{why}"


def _meta(tool: ToolConfig, reach: Reach) -> dict[str, Any]:
    extra: dict[str, Any] = {
        "display_name": tool.display_name,
        "category": tool.category,
        "tags": tool.tags,
        "version": tool.version,
        "strict": tool.strict,
        "sequential": tool.sequential,
        "approval": tool.approval is not None,
        "reach": "" if reach == "outside" else reach,
        "examples": [
            _set_fields(example.model_dump(), example.model_fields_set) for example in tool.examples
        ],
    }
    if tool.deprecated is not None:
        extra["deprecated"] = _renamed(tool.deprecated.model_dump(), {}) or True
    return {**tool.meta, **{META_PREFIX + name: value for name, value in extra.items() if value}}


def _set_fields(dumped: dict[str, Any], given: set[str]) -> dict[str, Any]:
    return {name: value for name, value in dumped.items() if name in given}


def _renamed(dumped: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    """``dumped`` without what is null, each key as ``names`` calls it."""
    return {names.get(name, name): value for name, value in dumped.items() if value is not None}
