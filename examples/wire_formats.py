"""One tool in every provider's wire format: what a request would carry, and what that format cannot say."""

from __future__ import annotations

import json

from toolspan_bridge import (
    NameTable,
    ToolSpec,
    format_names,
    get_format,
)

TOOL = ToolSpec(
    server="weather",
    name="get_weather",
    description="Get current weather for a location",
    schema={
        "type": "object",
        "properties": {
            "location": {"type": "string"},
            "units": {"type": "string", "enum": ["celsius", "fahrenheit"], "default": "celsius"},
        },
        "required": ["location"],
    },
)


def main() -> None:
    """Print each format's payload and losses."""
    for name in format_names():
        wire = get_format(name)
        print(name, json.dumps(wire.render_tools([TOOL], NameTable.of([TOOL]))))
        for loss in wire.losses([TOOL]):
            print("   loses", loss.pointer, loss.rule, "->", loss.repair)


if __name__ == "__main__":
    main()
