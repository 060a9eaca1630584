"""An MCP server over stdio without any library, so that it can misbehave: ``python raw.py [MOOD]``.

The mood decides how it starts and lists its tools; each tool answers in a way of its own.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

MOOD = sys.argv[1] if len(sys.argv) > 1 else "good"

TEXT = {"type": "text"}
IMAGE = {"type": "image", "mimeType": "image/png"}
ERROR = {"success": False, "error": "No such city", "error_code": "no_city", "user_action": "Name another."}
RESULTS: dict[str, dict[str, Any]] = {
    "two_texts": {"content": [{**TEXT, "text": "one"}, {**TEXT, "text": "two"}]},
    "mixed": {
        "content": [{**TEXT, "text": "a dot"}, {"type": "image", "data": "AAAA", "mimeType": "image/png"}]
    },
    "empty": {"content": []},
    "structured": {"content": [{**TEXT, "text": '{"result": 4}'}], "structuredContent": {"result": 4}},
    "wrapped": {"content": [{**TEXT, "text": "[1, 2]"}], "structuredContent": {"result": [1, 2]}},
    "wrapped_text": {"content": [{**TEXT, "text": "hi"}], "structuredContent": {"result": "hi"}},
    "timed": {"content": [{**TEXT, "text": "done"}], "_meta": {"execution_time_ms": 12.5}},
    "error_text": {"content": [{**TEXT, "text": "it broke"}], "isError": True},
    "error_object": {"content": [{**TEXT, "text": json.dumps(ERROR)}], "isError": True},
    "error_structured": {"content": [{**TEXT, "text": "?"}], "structuredContent": ERROR, "isError": True},
    "error_silent": {"content": [], "isError": True},
    "no_result": {"words": "no content at all"},
}
SPECIAL = (
    "echo",
    "hang",
    "die",
    "bad_utf8",
    "deep",
    "huge",
    "surrogate",
    "ask",
    "flood",
    "refuse",
    "secret",
    "crash",
    "blocks",
    "meet",
)


def send(message: dict[str, Any]) -> None:
    write((json.dumps({"jsonrpc": "2.0", **message}) + "\n").encode())


def write(line: bytes) -> None:
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()


def tool(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "description": f"The tool {name}.", "inputSchema": {"type": "object"}, **more}


def pages(cursor: str | None) -> dict[str, Any]:
    if MOOD == "empty_cursor":
        more = {"nextCursor": ""} if cursor is None else {}
        return {"tools": [tool("one" if cursor is None else "two")], **more}
    if MOOD == "empty_cursor_at_end":
        return {"tools": [tool("one"), tool("two")], "nextCursor": ""}
    if MOOD == "null_tools":
        return {"tools": None}
    number = int(cursor or 0)
    if MOOD == "endless_pages":
        return {"tools": [tool(f"t{number}")], "nextCursor": str(number + 1)}
    if MOOD == "circling_pages":
        return {"tools": [tool(f"t{number}")], "nextCursor": str((number + 1) % 3)}
    if MOOD == "many_tools":
        return {"tools": [tool(f"t{position}") for position in range(5_000)]}
    if MOOD == "malformed_tools":
        broken = [{"name": 7, "inputSchema": {"type": "object"}}, {"name": "no_schema"}, "a text"]
        shaky = tool("shaky", annotations="none", description=5)
        return {"tools": [tool("first"), *broken, tool("last"), tool("first"), shaky]}
    if MOOD == "old_draft":
        old = {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object",
            "properties": {
                "pair": {"type": "array", "items": [{"type": "string"}]},
                "of": {"$ref": "#/definitions/n"},
            },
            "definitions": {"n": {"type": "integer", "minimum": 0, "exclusiveMinimum": True}},
        }
        return {"tools": [tool("old", inputSchema=old)]}
    if MOOD == "long_description":
        return {"tools": [tool("wordy", description="ü" * 3_000)]}
    if MOOD == "bombs":
        return {"tools": [tool("bomb", outputSchema={"$ref": "#", "pattern": "(a+)+$"}), tool("echo")]}
    return {"tools": [tool(name) for name in (*RESULTS, *SPECIAL)]}


def call(request_id: Any, params: dict[str, Any]) -> None:
    name = params["name"]
    if name in RESULTS:
        send({"id": request_id, "result": RESULTS[name]})
    elif name in SPECIAL:
        globals()[f"call_{name}"](request_id, params.get("arguments") or {})
    else:
        send({"id": request_id, "error": {"code": -32602, "message": f"Unknown tool: {name}"}})


def answer(request_id: Any, text: str) -> None:
    send({"id": request_id, "result": {"content": [{**TEXT, "text": text}]}})


def call_echo(request_id: Any, arguments: dict[str, Any]) -> None:
    answer(request_id, json.dumps(arguments))


def call_hang(request_id: Any, arguments: dict[str, Any]) -> None:
    """Never answered; the start and the cancellation are written to files, as the arguments name them."""
    HUNG[request_id] = arguments.get("note")
    if "note" in arguments:
        Path(f"{arguments['note']}.started").write_text("started")


def call_meet(request_id: Any, arguments: dict[str, Any]) -> None:
    """Answered once as many calls as the arguments say are under way."""
    MET.append(request_id)
    if len(MET) == arguments["count"]:
        for each in MET:
            answer(each, "met")


def call_die(request_id: Any, arguments: dict[str, Any]) -> None:
    print("out of luck", file=sys.stderr, flush=True)
    os._exit(7)


def call_crash(request_id: Any, arguments: dict[str, Any]) -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def call_bad_utf8(request_id: Any, arguments: dict[str, Any]) -> None:
    write(
        b'{"jsonrpc": "2.0", "id": %d, "result": {"content": [{"type": "text", "text": "\xff"}]}}\n'
        % request_id
    )


def call_deep(request_id: Any, arguments: dict[str, Any]) -> None:
    write(b'{"jsonrpc": "2.0", "id": %d, "result": %s1%s}\n' % (request_id, b'{"a":' * 9_000, b"}" * 9_000))


def call_huge(request_id: Any, arguments: dict[str, Any]) -> None:
    write(b'{"jsonrpc": "2.0", "id": %d, "result": "' % request_id)
    for _ in range(100):
        write(b"x" * 65_536)
    write(b'"}\n')


def call_surrogate(request_id: Any, arguments: dict[str, Any]) -> None:
    answer(request_id, "\ud800")


def call_ask(request_id: Any, arguments: dict[str, Any]) -> None:
    """Asks the client to sample and to elicit, and answers with what became of that."""
    params: dict[str, Any] = {"messages": [], "maxTokens": 5}
    send({"id": "s", "method": "sampling/createMessage", "params": params})
    send({"id": "e", "method": "elicitation/create", "params": {"message": "?", "requestedSchema": {}}})
    refusals = [json.loads(sys.stdin.readline()) for _ in range(2)]
    answer(request_id, " ".join("refused" if "error" in refusal else "granted" for refusal in refusals))


def call_flood(request_id: Any, arguments: dict[str, Any]) -> None:
    for number in range(20_000):
        send({"method": "notifications/message", "params": {"level": "info", "data": number}})
    answer(request_id, "after the flood")


def call_refuse(request_id: Any, arguments: dict[str, Any]) -> None:
    send({"id": request_id, "error": {"code": -32602, "message": "arguments: 'x' is missing"}})


def call_secret(request_id: Any, arguments: dict[str, Any]) -> None:
    send({"id": request_id, "error": {"code": -32000, "message": f"bad key {os.environ.get('MY_KEY')}"}})


def call_blocks(request_id: Any, arguments: dict[str, Any]) -> None:
    """``count`` short blocks of text, as an error when the arguments say so."""
    blocks = [{**TEXT, "text": str(number)} for number in range(arguments["count"])]
    send({"id": request_id, "result": {"content": blocks, "isError": arguments.get("error", False)}})


HUNG: dict[Any, str | None] = {}
MET: list[Any] = []


def cancelled(params: dict[str, Any]) -> None:
    if note := HUNG.pop(params["requestId"], None):
        Path(note).write_text("cancelled")


def handle(message: dict[str, Any]) -> None:
    method, request_id, params = message.get("method"), message.get("id"), message.get("params") or {}
    if MOOD == "ends_at_discovery" and method == "server/discover":
        sys.exit(1)
    if MOOD == "refuses" and method == "initialize":
        send({"id": request_id, "error": {"code": -32000, "message": "no licence: set ACME_KEY"}})
    elif MOOD == "late" and method in ("initialize", "server/discover"):
        discover_late(method, request_id)
    elif method == "initialize":
        info = {"name": "raw", "version": "1"}
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}
        send({"id": request_id, "result": result})
    elif method == "tools/list":
        send({"id": request_id, "result": pages(params.get("cursor")) | (MODERN if MOOD == "late" else {})})
    elif method == "tools/call":
        call(request_id, params)
    elif method == "notifications/cancelled":
        cancelled(params)
    elif request_id is not None:
        send({"id": request_id, "error": {"code": -32601, "message": "Method not found"}})


def discover_late(method: str, request_id: Any) -> None:
    """A server that speaks 2026-07-28 and whose first answer, to the discovery, was not waited for."""
    DISCOVERED.append(method)
    if method == "initialize":
        send({"id": request_id, "error": {"code": -32022, "message": "the handshake is not accepted"}})
    elif len(DISCOVERED) == 1:
        send({"id": request_id, "error": {"code": -32603, "message": "lost"}})
    else:
        info = {"io.modelcontextprotocol/serverInfo": {"name": "raw", "version": "1"}}
        found = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "_meta": info}
        send({"id": request_id, "result": {**found, **MODERN}})


DISCOVERED: list[str] = []
MODERN = {"ttlMs": 0, "cacheScope": "private", "resultType": "complete"}


def start() -> None:
    if MOOD == "dies":
        for number in range(30):
            print(f"line {number} of complaint", file=sys.stderr)
        print(f"the key {os.environ.get('MY_KEY')} is refused", file=sys.stderr, flush=True)
        sys.exit(3)
    if MOOD == "silent":
        sys.stdin.read()
        sys.exit()
    if MOOD == "chatty":
        print("Welcome to the chatty server!", flush=True)
    if MOOD == "meets":
        folder, count = Path(sys.argv[2]), int(sys.argv[3])
        (folder / str(os.getpid())).touch()
        while len(list(folder.iterdir())) < count:
            time.sleep(0.01)
    if MOOD in ("stubborn", "parent"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        sleeper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
        Path(sys.argv[2]).write_text(f"{os.getpid()} {sleeper.pid}")


def main() -> None:
    start()
    for line in sys.stdin:
        handle(json.loads(line))
    while MOOD == "stubborn":
        time.sleep(1)


if __name__ == "__main__":
    main()
