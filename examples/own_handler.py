"""A handler of your own: a decorated function becomes a tool that validates, times out and reports.

Run it: python examples/own_handler.py
"""

from __future__ import annotations

import json
from typing import Any

import anyio

from toolspan_server import (
    LOCAL,
    Config,
    Context,
    ToolFailure,
    handler,
    running,
)

STOCK = {"apples": 12, "pears": 0}


@handler("stock_level")
def stock_level(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """A plain function may block: it runs in a worker thread."""
    product = arguments["product"]
    if product not in STOCK:
        raise ToolFailure(
            f"There is no product {product!r}", user_action=f"Ask for one of: {', '.join(STOCK)}."
        )
    return {"product": product, "level": STOCK[product], "low": STOCK[product] < arguments["low_below"]}


CONFIG = {
    "tools": {
        "registry": [
            {
                "name": "stock",
                "description": "How many pieces of a product are in stock.",
                "parameters": {
                    "type": "object",
                    "properties": {
                        "product": {"type": "string"},
                        "low_below": {"type": "integer", "default": 5},
                    },
                    "required": ["product"],
                },
                "implementation": {"type": "builtin", "handler": "stock_level"},
                "timeout_ms": 2000,
            }
        ]
    }
}


async def main() -> None:
    async with running(Config.model_validate(CONFIG)) as executor:
        for arguments in ({"product": "apples"}, {"product": "plums"}, {}):
            result = await executor.execute("stock", arguments, LOCAL)
            print(json.dumps(arguments), "→", json.dumps(result.as_dict(), indent=2))


if __name__ == "__main__":
    anyio.run(main)
