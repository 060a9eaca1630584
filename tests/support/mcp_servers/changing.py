"""An MCP server over stdio whose tools change: ``python changing.py BEFORE AFTER``, files of the tools' JSON.

Every call is answered with the tool's name; one of the tool ``turn`` has the tools of ``AFTER`` listed from
then on, and says so.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def send(message: dict[str, Any]) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def answer(message: dict[str, Any], tools: Any) -> dict[str, Any]:
    if message["method"] == "initialize":
        return {
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": "changing", "version": "1"},
        }
    if message["method"] == "tools/call":
        return {"content": [{"type": "text", "text": message["params"]["name"]}]}
    return {"tools": tools} if message["method"] == "tools/list" else {}


def main() -> None:
    tools = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        if message["method"] == "server/discover":
            send({"id": message["id"], "error": {"code": -32601, "message": "Method not found"}})
            continue
        send({"id": message["id"], "result": answer(message, tools)})
        if message["method"] == "tools/call" and message["params"]["name"] == "turn":
            tools = json.loads(Path(sys.argv[2]).read_text("utf-8"))
            send({"method": "notifications/tools/list_changed"})


if __name__ == "__main__":
    main()
