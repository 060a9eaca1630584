"""One tool's schema through one format: what is sent, what is reported, what comes back."""

from __future__ import annotations

import json
from typing import Any

from toolspan_bridge.formats import get_format
from toolspan_bridge.formats.names import NameTable
from toolspan_bridge.messages import ToolSpec


def tool(schema: Any) -> ToolSpec:
    return ToolSpec("s", "t", "d", schema)


def sent_schema(payload: Any) -> Any:
    """The one schema in a tool payload, wherever the format keeps it; ``None`` when the tool was left out."""
    if isinstance(payload, str):
        lines = [line for line in payload.split("\n") if line.startswith('{"type":"function",')]
        return sent_schema(json.loads(lines[0])) if lines else None
    if isinstance(payload, list):
        return next((found for entry in payload if (found := sent_schema(entry)) is not None), None)
    if isinstance(payload, dict):
        for key in ("parameters", "parametersJsonSchema", "json", "input_schema"):
            if key in payload:
                return payload[key]
        return sent_schema(list(payload.values()))
    return None


def sent(name: str, schema: Any) -> Any:
    spec = tool(schema)
    return sent_schema(get_format(name).render_tools([spec], NameTable.of([spec])))


def reported(name: str, schema: Any) -> set[tuple[str, str]]:
    """(pointer, rule) of every loss."""
    return {(loss.pointer, loss.rule) for loss in get_format(name).losses([tool(schema)])}


def property_as_sent(name: str, schema: Any) -> Any:
    """What is sent for ``schema`` as the property ``p``."""
    return sent(name, {"type": "object", "properties": {"p": schema}})["properties"]["p"]
