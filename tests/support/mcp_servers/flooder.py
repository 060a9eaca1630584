"""An MCP server over stdio that lists one tool and, once that is called, floods: ``python flooder.py WHAT``.

It never reads again, and answers the call only where that is said. A second argument says for how many
seconds it floods.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

BLOCK = 65_536


def message(**more: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **more}).encode() + b"\n"


def numbered(method: str, **params: Any) -> Callable[[int], bytes]:
    return lambda number: message(id=f"f{number}", method=method, params=params)


def log(data: str) -> bytes:
    return message(method="notifications/message", params={"level": "info", "data": data})


ASKED = {"messages": [{"role": "user", "content": {"type": "text", "text": "?" * 200}}], "maxTokens": 1}
FLOODS: dict[str, Callable[[int], bytes]] = {
    "pings": numbered("ping"),
    "answered_pings": numbered("ping"),
    "questions": numbered("sampling/createMessage", **ASKED),
    "elicitations": numbered("elicitation/create", message="?", requestedSchema={"type": "object"}),
    "unknown": numbered("no/such", text="x" * 200),
    "same_id": lambda _: message(id="same", method="ping"),
    "logs": lambda number: log(f"line {number}"),
    "large_logs": lambda _: log("x" * 1_000_000),
    "progress": lambda number: message(
        method="notifications/progress", params={"progressToken": "none", "progress": number}
    ),
    "changes": lambda _: message(method="notifications/tools/list_changed"),
    "noise": lambda _: message(method="notifications/made_up", params={"text": "x" * 50}),
    "answers": lambda number: message(id=1_000_000 + number, result={}),
    "garbage": lambda number: b"not a message %d\n" % number,
    "blank": lambda _: b"\n",
}


def flood(what: str, seconds: float) -> None:
    end = time.monotonic() + seconds
    if what == "endless_line":
        os.write(1, b'{"jsonrpc": "2.0", "method": "notifications/message", "params": "')
    number = 0
    while time.monotonic() < end:
        if what in ("stderr", "endless_line"):
            os.write(2 if what == "stderr" else 1, (b"y\n" if what == "stderr" else b"yy") * (BLOCK // 2))
            continue
        made = FLOODS[what]
        block = b"".join(made(number + each) for each in range(100 if what != "blank" else BLOCK))
        number += 100
        while block:
            block = block[os.write(1, block) :]


def tools_of(request: dict[str, Any]) -> dict[str, Any]:
    """The answer to a request that is no call: the tool ``flood``, and no revision of 2026."""
    results: dict[str, dict[str, Any]] = {
        "initialize": {
            "protocolVersion": request.get("params", {}).get("protocolVersion"),
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": "flooder", "version": "1"},
        },
        "tools/list": {"tools": [{"name": "flood", "inputSchema": {"type": "object"}}]},
    }
    if request["method"] in results:
        return {"result": results[request["method"]]}
    return {"error": {"code": -32601, "message": "Method not found"}}


def main() -> None:
    for line in sys.stdin.buffer:
        request = json.loads(line)
        if request["method"] == "tools/call":
            if sys.argv[1] == "answered_pings":
                os.write(1, message(id=request["id"], result={"content": []}))
            flood(sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 60.0)
        elif "id" in request:
            os.write(1, message(id=request["id"], **tools_of(request)))


if __name__ == "__main__":
    main()
