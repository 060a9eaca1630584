"""What of a tool's definition an approval is bound to."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from toolspan_server.engines.upstreams import ListedTool


def definition_of(tool: ListedTool) -> dict[str, Any]:
    """``{"name", "description", "schema", "annotations"}``."""
    return {
        "name": tool.name,
        "description": tool.description,
        "schema": dict(tool.schema),
        "annotations": dict(tool.annotations),
    }


def digest_of(definition: Mapping[str, Any]) -> str:
    """The SHA-256 of a definition, whatever the order of its keys."""
    written = json.dumps(definition, sort_keys=True, separators=(",", ":"))
    return sha256(written.encode()).hexdigest()


def definition_diff(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """The lines of a unified diff of two definitions, as indented JSON."""
    from difflib import unified_diff

    return list(unified_diff(_lines(before), _lines(now), "before", "now", lineterm="", n=1))


def _lines(definition: Mapping[str, Any]) -> list[str]:
    return json.dumps(definition, sort_keys=True, indent=1, ensure_ascii=False).splitlines()
