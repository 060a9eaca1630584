"""No loop at all: the same requests and calls by sockets and pipes: what the model and the tools cost."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from urllib.parse import urlsplit

from timing import MODEL_URL, TOOL_SERVER, timed

TOOLS = [
    {"type": "function", "function": {"name": name, "description": name, "parameters": {"type": "object"}}}
    for name in ("act", "wait")
]


async def main() -> None:
    place = urlsplit(MODEL_URL)
    reader, writer = await asyncio.open_connection(place.hostname, place.port, limit=2**24)
    pipe = asyncio.subprocess.PIPE
    server = await asyncio.create_subprocess_exec(*TOOL_SERVER, stdin=pipe, stdout=pipe)
    assert server.stdin is not None and server.stdout is not None

    async def complete(messages: list[Any]) -> Any:
        body = json.dumps({"model": "m", "messages": messages, "tools": TOOLS}).encode()
        writer.write(b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0])
        return json.loads(await reader.readexactly(length))["choices"][0]["message"]

    async def ask(text: str) -> str:
        messages: list[Any] = [{"role": "user", "content": text}]
        while True:
            message = await complete(messages)
            messages.append(message)
            calls = message.get("tool_calls") or []
            if not calls:
                return str(message["content"])
            for number, call in enumerate(calls):
                params = {
                    "name": call["function"]["name"],
                    "arguments": json.loads(call["function"]["arguments"]),
                }
                request = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
                server.stdin.write(json.dumps(request).encode() + b"\n")
            for _ in calls:
                found = json.loads(await server.stdout.readline())
                result = json.dumps(found["result"])
                messages.append({"role": "tool", "tool_call_id": calls[found["id"]]["id"], "content": result})

    await timed(ask)
    server.kill()
    writer.close()


asyncio.run(main())
