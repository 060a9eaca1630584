"""An MCP server over stdio without any library, for every loop alike: ``act`` answers at once, ``wait`` after
100 ms, any number at a time."""

from __future__ import annotations

import json
import sys
import threading
from typing import Any

WAIT_SECONDS = 0.1
LOCK = threading.Lock()
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
HINTS = {"readOnlyHint": True, "idempotentHint": True}
TOOLS = [
    {"name": name, "description": f"The tool {name}.", "inputSchema": SCHEMA, "annotations": HINTS}
    for name in ("act", "wait")
]


def send(message: dict[str, Any]) -> None:
    with LOCK:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def handle(message: dict[str, Any]) -> None:
    method, request_id = message.get("method"), message.get("id")
    if method == "initialize":
        info = {"name": "tools", "version": "1"}
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
        send({"id": request_id, "result": result})
    elif method == "tools/list":
        send({"id": request_id, "result": {"tools": TOOLS}})
    elif method == "tools/call":
        answer = {"id": request_id, "result": {"content": [{"type": "text", "text": "done"}]}}
        if message["params"]["name"] == "wait":
            threading.Timer(WAIT_SECONDS, send, (answer,)).start()
        else:
            send(answer)
    elif request_id is not None:
        send({"id": request_id, "error": {"code": -32601, "message": "Method not found"}})


for line in sys.stdin:
    handle(json.loads(line))
