"""An MCP server over stdio that only lists tools: ``python listing.py FILE``, the file their JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def answer(message: dict[str, Any], tools: Any) -> dict[str, Any]:
    if message["method"] == "initialize":
        return {
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "listing", "version": "1"},
        }
    return {"tools": tools} if message["method"] == "tools/list" else {}


def main() -> None:
    tools = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("method") == "server/discover":
            body: dict[str, Any] = {"error": {"code": -32601, "message": "Method not found"}}
        else:
            body = {"result": answer(message, tools)}
        if "id" in message:
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **body}), flush=True)


if __name__ == "__main__":
    main()
