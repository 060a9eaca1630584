"""An MCP server over stdio that lists very many tools, in pages of 2,000: ``python pages.py COUNT``."""

from __future__ import annotations

import json
import sys
from typing import Any

COUNT, PAGE = int(sys.argv[1]), 2_000
SCHEMA = {
    "type": "object",
    "properties": {"q": {"type": "string", "description": "What"}, "n": {"type": "integer"}},
    "required": ["q"],
}


def answer(message: dict[str, Any]) -> dict[str, Any]:
    params = message.get("params") or {}
    if message["method"] == "initialize":
        info = {"name": "pages", "version": "1"}
        version = params["protocolVersion"]
        return {"result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}}
    if message["method"] != "tools/list":
        return {"error": {"code": -32601, "message": "Method not found"}}
    start = int(params.get("cursor") or 0)
    end = min(COUNT, start + PAGE)
    tools = [
        {"name": f"tool_{number}", "description": f"Does something, no. {number}.", "inputSchema": SCHEMA}
        for number in range(start, end)
    ]
    return {"result": {"tools": tools, **({"nextCursor": str(end)} if end < COUNT else {})}}


if __name__ == "__main__":
    for line in sys.stdin:
        request = json.loads(line)
        if "id" in request:
            print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer(request)}), flush=True)
