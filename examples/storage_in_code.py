"""A handler that keeps values from call to call, for each conversation apart, served and called in code."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import anyio

from toolspan_server import LOCAL, Context, handler, load_config, running

CONFIG = {
    "tools": {
        "registry": [
            {
                "name": "shopping",
                "description": "Adds an item to the shopping list, and tells what is on it.",
                "parameters": {"type": "object", "properties": {"add": {"type": "string"}}},
                "implementation": {"type": "builtin", "handler": "shopping_list"},
            }
        ]
    },
    "storage": {"document_bytes": 10_000},
}


@handler("shopping_list")
def shopping_list(arguments: dict[str, Any], context: Context) -> list[str]:
    """``update`` loses nothing where several calls add something at the same time."""
    items: list[str] = context.storage.update(
        "items", lambda known: [*known, arguments["add"]] if "add" in arguments else known, default=[]
    )
    return items


async def main() -> None:
    """Two conversations, and the server started again in between."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "toolspan.json"
        path.write_text(json.dumps(CONFIG))
        for conversation, item in (("home", "milk"), ("office", "paper"), ("home", "bread")):
            async with running(load_config(path)) as server:
                meta = {"dev.toolspan/conversation": conversation}
                called = await server.execute("shopping", {"add": item}, LOCAL, meta=meta)
                print(conversation, called.result)


if __name__ == "__main__":
    anyio.run(main)
