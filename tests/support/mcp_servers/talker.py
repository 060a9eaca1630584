"""An MCP server over stdio, without any library, that talks in its calls: ``python talker.py ERA [MOOD]``.

``old`` speaks 2025-11-25 and asks by requests, ``new`` speaks 2026-07-28 and asks by its results. The mood
``schemas`` lists tools whose schemas are hostile; ``undeclared`` says that its tools never change.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

ERA = sys.argv[1]
MOOD = sys.argv[2] if len(sys.argv) > 2 else ""
VERSION = "2025-11-25" if ERA == "old" else "2026-07-28"
PREFIX = "io.modelcontextprotocol/"
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
QUESTION = {"message": "Which city?", "requestedSchema": CITY}
SAMPLE = {"messages": [{"role": "user", "content": {"type": "text", "text": "Hi"}}], "maxTokens": 5}
ASKS: dict[str, tuple[str, dict[str, Any]]] = {
    "elicit": ("elicitation/create", QUESTION),
    "sample": ("sampling/createMessage", SAMPLE),
    "roots": ("roots/list", {}),
}
TOOLS = ["elicit", "sample", "roots", "twice", "report", "hang", "told", "grow", "blocks", "broken", "fails"]
TOOLS += ["put", "pace", "shrink", "update", "visited", "die"]
SEARCH = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "properties": {
        "query": {"type": "string", "description": "What to look for."},
        "owner": {"type": "string"},
        "limit": {"type": "integer", "default": 10},
    },
    "required": ["query", "owner"],
}
state: dict[str, Any] = {"followed": {}, "grown": 0, "listening": None, "hung": {}, "asked": 0, "calls": 0}
waiting: dict[str, tuple[Any, str, int]] = {}


def send(message: dict[str, Any]) -> None:
    sys.stdout.buffer.write((json.dumps({"jsonrpc": "2.0", **message}) + "\n").encode())
    sys.stdout.buffer.flush()


def result(request_id: Any, **result: Any) -> None:
    complete = {} if ERA == "old" else {"resultType": "complete"}
    send({"id": request_id, "result": {**complete, **result}})


def text(request_id: Any, value: Any, **more: Any) -> None:
    shown = value if isinstance(value, str) else json.dumps(value)
    result(request_id, content=[{"type": "text", "text": shown}], **more)


def plain(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "description": f"The tool {name}.", "inputSchema": {"type": "object"}, **more}


def tools() -> list[dict[str, Any]]:
    if MOOD == "schemas":
        return hostile()
    details = {
        "title": "Search",
        "annotations": {"readOnlyHint": True, "unheardOf": 1},
        "icons": [{"src": "https://example.com/i.png", "mimeType": "image/png"}, {"src": "javascript:1"}],
        "outputSchema": {"type": "object", "properties": {"found": {"type": "object"}}},
    }
    grown = [plain(f"grown_{number}") for number in range(state["grown"])]
    return [
        *map(plain, TOOLS),
        plain("search", **details) | {"inputSchema": SEARCH},
        plain("odd name/1"),
        *grown,
    ]


def patterns(count: int) -> dict[str, Any]:
    """A schema that takes the compiler some 25 ms for each of its patterns."""
    parts = {f"p{n}": {"type": "string", "pattern": f"^\\p{{L}}{{1,150}}{n}$"} for n in range(count)}
    return {"type": "object", "properties": parts}


def hostile() -> list[dict[str, Any]]:
    fan = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(40)} | {"d40": {}}
    schemas = {
        "fan_out": {"type": "object", "properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": fan},
        "itself": {"type": "object", "$ref": "#"},
        "remote": {"type": "object", "properties": {"x": {"$ref": "http://169.254.169.254/schema"}}},
        "slow": patterns(200),
        "costly": patterns(5),
        "wrong": {"type": "object", "properties": {"x": {"type": "strnig"}}},
        "large": {"type": "object", "description": "x" * 300_000},
        "sound": {"type": "object", "properties": {"x": {"type": "string", "pattern": "^a+$"}}},
    }
    listed = [plain(name) | {"inputSchema": schema} for name, schema in schemas.items()]
    return [*listed, plain("bad_output", outputSchema={"type": "object", "$ref": "#"}), plain("good")]


def ask(request_id: Any, name: str, number: int = 1) -> None:
    """Ask the client, in the era's way; what the arguments of ``put`` say, as often as they say."""
    if name == "put":
        method, params = state["put"]["method"], state["put"]["params"]
    else:
        method, params = ASKS["elicit" if name == "twice" else name]
    if ERA == "old":
        state["asked"] += 1
        waiting[f"q{state['asked']}"] = (request_id, name, number)
        send({"id": f"q{state['asked']}", "method": method, "params": params})
    else:
        needed = {"inputRequests": {"k": {"method": method, "params": params}}, "requestState": str(number)}
        send({"id": request_id, "result": {"resultType": "input_required", **needed}})


def answered(request_id: Any, name: str, number: int, answer: Any) -> None:
    times = {"twice": 2, "put": state.get("put", {}).get("times", 1)}.get(name, 1)
    if number < times:
        ask(request_id, name, number + 1)
    else:
        text(request_id, {"answer": answer, "calls": state["calls"]})


def call(request_id: Any, params: dict[str, Any]) -> None:
    name, arguments, meta = params["name"], params.get("arguments") or {}, params.get("_meta") or {}
    if name in ASKS or name in ("twice", "put"):
        state["put"] = arguments
        call_that_asks(request_id, name, params)
    elif name == "told":
        text(
            request_id,
            {
                "meta": meta,
                "capabilities": state.get("capabilities"),
                "level": state.get("level"),
                "roots_changed": state.get("roots_changed"),
                "subscribed": state.get("subscribed"),
            },
        )
    elif name == "report":
        report(meta.get("progressToken"), arguments.get("logs", 1), arguments.get("steps", 2))
        text(request_id, "reported")
    elif name == "pace":
        pace(request_id, meta.get("progressToken"), arguments)
    elif name == "visited":
        visited(request_id, arguments)
    elif name == "hang":
        state["hung"][request_id] = arguments["note"]
        Path(arguments["note"] + ".started").touch()
    elif name == "search":
        text(request_id, arguments, structuredContent={"found": arguments})
    elif name == "shrink":
        grow(request_id, -1)
    elif name in PLAIN:
        PLAIN[name](request_id)
    else:
        text(request_id, name)


def call_that_asks(request_id: Any, name: str, params: dict[str, Any]) -> None:
    if "inputResponses" in params:
        answered(request_id, name, int(params["requestState"]), params["inputResponses"]["k"])
    else:
        state["calls"] += 1
        ask(request_id, name)


def visited(request_id: Any, arguments: dict[str, Any]) -> None:
    """Want ``pages`` visited ``times`` times before the answer, and tell that those in ``done`` are."""
    state["calls"] += 1
    if state["calls"] > arguments.get("times", 1):
        text(request_id, f"call {state['calls']}")
        return
    pages = [
        {"mode": "url", "elicitationId": id, "url": f"https://{id}.example/", "message": "Sign in"}
        for id in arguments["pages"]
    ]
    error = {"code": -32042, "message": "Sign in first", "data": {"elicitations": pages}}
    send({"id": request_id, "error": {**error, **arguments.get("error", {})}})
    for id in arguments.get("done", []):
        send({"method": "notifications/elicitation/complete", "params": {"elicitationId": id}})


def pace(request_id: Any, token: Any, arguments: dict[str, Any]) -> None:
    """Report progress ``steps`` times, ``seconds`` apart, and then answer."""
    for step in range(arguments["steps"]):
        time.sleep(arguments["seconds"])
        send({"method": "notifications/progress", "params": {"progressToken": token, "progress": step}})
    text(request_id, "done")


def report(token: Any, logs: int, steps: int) -> None:
    for step in range(1, steps + 1):
        progress = {"progressToken": token, "progress": step, "total": steps, "message": f"step {step}"}
        send({"method": "notifications/progress", "params": progress})
    for number in range(logs):
        send({"method": "notifications/message", "params": {"level": "info", "data": f"working {number}"}})


def grow(request_id: Any, by: int = 1) -> None:
    state["grown"] += by
    text(request_id, "grown")
    subscribed = {} if ERA == "old" else {"_meta": {f"{PREFIX}subscriptionId": state["listening"]}}
    send({"method": "notifications/tools/list_changed", "params": subscribed})


def blocks(request_id: Any) -> None:
    image = {"type": "image", "data": "AAAA", "mimeType": "image/png", "annotations": {"priority": 1}}
    own = {"example.com/mine": 1, f"{PREFIX}serverInfo": {"name": "x", "version": "1"}}
    content = [{"type": "text", "text": "a dot"}, image]
    result(request_id, content=content, structuredContent={"dots": 1}, _meta=own)


def broken(request_id: Any) -> None:
    send({"id": request_id, "error": {"code": -32000, "message": f"bad key {os.environ.get('MY_KEY')}"}})


def fails(request_id: Any) -> None:
    text(request_id, f"no such thing as {os.environ.get('MY_KEY')}", isError=True)


def update(request_id: Any) -> None:
    """Change a resource. In the new era those hear of it who subscribed to it."""
    RESOURCES["note:1"]["text"] = "Buy bread."
    followed = {} if ERA == "old" else state["followed"]
    for id in [None] if ERA == "old" else followed:
        stamp = {} if id is None else {"_meta": {f"{PREFIX}subscriptionId": id}}
        send({"method": "notifications/resources/updated", "params": {"uri": "note:1", **stamp}})
    text(request_id, "updated")


def die(request_id: Any) -> None:
    print("the cellar is flooded", file=sys.stderr, flush=True)
    os._exit(3)


PLAIN = {"die": die, "update": update, "grow": grow, "blocks": blocks, "broken": broken, "fails": fails}


RESOURCES = {"note:1": {"mimeType": "text/plain", "text": os.environ.get("TALKER_NOTE", "Buy milk.")}}
RESOURCES["dot:1"] = {"mimeType": "image/png", "blob": "AAAA"}
RESOURCES["long:1"] = {"mimeType": "text/plain", "text": "x" * 300_000}
ARGUMENTS = [{"name": "topic", "required": True}, {"name": "tone"}]


def told_of_contents(request_id: Any, method: str, params: dict[str, Any]) -> None:
    """Resources, a template, a prompt and what completes them."""
    cached = {} if ERA == "old" else {"ttlMs": 0, "cacheScope": "private"}
    if method == "resources/list":
        result(request_id, resources=[{"uri": uri, "name": uri} for uri in RESOURCES], **cached)
    elif method == "resources/templates/list":
        result(request_id, resourceTemplates=[{"uriTemplate": "day:{day}/x", "name": "day"}], **cached)
    elif method == "resources/subscribe" and ERA == "old":
        state["subscribed"] = [*(state.get("subscribed") or []), params["uri"]]
        result(request_id)
    elif method == "resources/subscribe":
        send({"id": request_id, "error": {"code": -32601, "message": "Method not found"}})
    elif method == "resources/read" and params["uri"] in RESOURCES:
        result(request_id, contents=[{"uri": params["uri"], **RESOURCES[params["uri"]]}], **cached)
    elif method == "resources/read":
        send({"id": request_id, "error": {"code": -32602, "message": "Resource not found"}})
    elif method == "prompts/list":
        result(request_id, prompts=[{"name": "write", "arguments": ARGUMENTS}], **cached)
    elif method == "prompts/get":
        written = {"type": "text", "text": f"Write about {json.dumps(params['arguments'])}"}
        embedded = {"type": "resource", "resource": {"uri": "note:1", **RESOURCES["note:1"]}}
        result(request_id, messages=[{"role": "user", "content": each} for each in (written, embedded)])
    else:
        values = [each for each in ("monday", "tuesday") if each.startswith(params["argument"]["value"])]
        result(request_id, completion={"values": values})


def notified(method: str, params: dict[str, Any]) -> None:
    if method == "notifications/cancelled":
        state["followed"].pop(params["requestId"], None)
    if method == "notifications/roots/list_changed":
        state["roots_changed"] = state.get("roots_changed", 0) + 1
    elif method == "notifications/cancelled" and (note := state["hung"].pop(params["requestId"], None)):
        Path(note).write_text("cancelled")


def handle(message: dict[str, Any]) -> None:
    method, request_id, params = message.get("method"), message.get("id"), message.get("params") or {}
    capabilities = {"tools": {"listChanged": MOOD != "undeclared"}, "logging": {}}
    if method is None:
        answered(*waiting.pop(request_id), message.get("result") or message["error"]["message"])
    elif method == "server/discover" and ERA == "new":
        supported = {"supportedVersions": [VERSION], "ttlMs": 0, "cacheScope": "private"}
        result(request_id, capabilities=capabilities, **supported)
    elif method == "initialize" and ERA == "old":
        state["capabilities"] = params["capabilities"]
        info = {"name": "talker", "version": "1"}
        result(request_id, protocolVersion=VERSION, capabilities=capabilities, serverInfo=info)
    elif method == "tools/list":
        cached = {} if ERA == "old" else {"ttlMs": 0, "cacheScope": "private"}
        result(request_id, tools=tools(), **cached)
    elif method == "tools/call":
        call(request_id, params)
    elif method.startswith(("resources/", "prompts/", "completion/")):
        told_of_contents(request_id, method, params)
    elif method == "logging/setLevel":
        state["level"] = params["level"]
        result(request_id)
    elif method == "subscriptions/listen":
        if uris := params["notifications"].get("resourceSubscriptions"):
            state["followed"][request_id] = state["subscribed"] = uris
        else:
            state["listening"] = request_id
        meta = {f"{PREFIX}subscriptionId": request_id}
        honored = {"notifications": params["notifications"], "_meta": meta}
        send({"method": "notifications/subscriptions/acknowledged", "params": honored})
    elif method.startswith("notifications/"):
        notified(method, params)
    elif request_id is not None:
        send({"id": request_id, "error": {"code": -32601, "message": "Method not found"}})


if __name__ == "__main__":
    for line in sys.stdin:
        handle(json.loads(line))
