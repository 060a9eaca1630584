"""The three tools of the background documents, as a model is to see them."""

from __future__ import annotations

from toolspan_bridge.messages import ToolSpec

WEATHER = ToolSpec(
    "config",
    "get_weather",
    "Get current weather for a location",
    {
        "type": "object",
        "properties": {
            "location": {"type": "string", "description": "City name or coordinates"},
            "units": {"type": "string", "enum": ["celsius", "fahrenheit"], "default": "celsius"},
        },
        "required": ["location"],
    },
)
CALCULATE = ToolSpec(
    "config",
    "calculate",
    "Evaluate a mathematical expression",
    {
        "type": "object",
        "properties": {
            "expression": {
                "type": "string",
                "description": "Math expression to evaluate, e.g., '2+2' or 'sqrt(16)'",
            }
        },
        "required": ["expression"],
    },
)
SEARCH = ToolSpec(
    "config",
    "search_documents",
    "Search RAG collections for information",
    {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "Search query"},
            "collection": {"type": "string", "description": "Optional collection name to search"},
            "max_results": {"type": "integer", "default": 5},
        },
        "required": ["query"],
    },
)
SEED_TOOLS = (WEATHER, CALCULATE, SEARCH)
