"""A server on stdio that puts the text of its argument into every field that a client may show."""

from __future__ import annotations

import json
import sys
from typing import Any

BAD = json.loads(sys.argv[1])


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def tool(name: str) -> dict[str, Any]:
    schema = {"type": "object", "title": BAD, "properties": {"x": {"type": "string", "description": BAD}}}
    about = {"title": BAD, "description": f"Say. {BAD}", "annotations": {"title": BAD}}
    return {"name": name, "inputSchema": schema, **about}


def call(number: Any, params: dict[str, Any]) -> None:
    token = params.get("_meta", {}).get("progressToken")
    if token is not None:
        progress = {"progressToken": token, "progress": 1, "total": 3, "message": BAD}
        send({"method": "notifications/progress", "params": progress})
    log = {"level": "error", "logger": BAD, "data": BAD}
    send({"method": "notifications/message", "params": log})
    if params["name"] == "refuse":
        send({"id": number, "error": {"code": -32000, "message": BAD, "data": BAD}})
        return
    content = [
        {"type": "text", "text": f"said {BAD}"},
        {"type": "resource_link", "uri": f"file:///{BAD}", "name": BAD, "description": BAD},
    ]
    send({"id": number, "result": {"content": content, "isError": params["name"] == "fail"}})


def answer(message: dict[str, Any]) -> None:
    number, method = message["id"], message["method"]
    resource = {"uri": f"file:///{BAD}", "name": BAD, "title": BAD, "description": BAD}
    prompt = {"name": BAD, "title": BAD, "description": BAD, "arguments": [{"name": BAD}]}
    results: dict[str, Any] = {
        "initialize": {
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}, "resources": {}, "prompts": {}, "logging": {}},
            "serverInfo": {"name": BAD, "title": BAD, "version": BAD},
            "instructions": BAD,
        },
        "tools/list": {"tools": [tool("say"), tool("fail"), tool("refuse"), tool(f"bad{BAD}")]},
        "resources/list": {"resources": [resource]},
        "resources/templates/list": {"resourceTemplates": []},
        "prompts/list": {"prompts": [prompt]},
        "logging/setLevel": {},
        "ping": {},
    }
    if method == "tools/call":
        call(number, message["params"])
    elif method in results:
        send({"id": number, "result": results[method]})
    else:
        send({"id": number, "error": {"code": -32601, "message": BAD}})


sys.stderr.write(f"started {BAD}\n")
sys.stderr.flush()
for line in sys.stdin:
    if "id" in (read := json.loads(line)) and "method" in read:
        answer(read)
