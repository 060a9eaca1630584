"""The least that can be called a server on stdio: a loop over lines, no checks, no limits."""

from __future__ import annotations

import json
import sys
from typing import Any

TOOLS = [{"name": name, "inputSchema": {"type": "object"}} for name in ("echo", "add", "greet")]


def result_of(method: str, params: dict[str, Any]) -> dict[str, Any]:
    """The ``result`` for a request."""
    if method == "tools/call":
        return {"content": [{"type": "text", "text": params["arguments"]["text"]}], "isError": False}
    if method == "tools/list":
        return {"tools": TOOLS}
    server = {"name": "bare", "version": "1"}
    return {
        "protocolVersion": params["protocolVersion"],
        "capabilities": {"tools": {}},
        "serverInfo": server,
    }


def main() -> None:
    """Answer until the input ends."""
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if "id" in message:
            result = result_of(message["method"], message["params"])
            answer = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result})
            sys.stdout.buffer.write(answer.encode() + b"\n")
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
