"""A scripted model behind the Chat Completions API, for every loop alike: ``python model.py``.

Prints its port. A conversation that begins with ``turns N`` is N turns of one call of ``act``, then an
answer; one that begins with ``parallel N`` is one turn of N calls of ``wait``, then an answer.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any


def reply(body: dict[str, Any]) -> dict[str, Any]:
    messages = body["messages"]
    said = next(message["content"] for message in messages if message["role"] == "user")
    if not isinstance(said, str):
        said = said[0]["text"]
    kind, count = said.split()
    names = {tool["function"]["name"] for tool in body.get("tools", ())}
    results = sum(message["role"] == "tool" for message in messages)
    if results >= int(count):
        return {"role": "assistant", "content": "Done."}
    tool = "act" if kind == "turns" else "wait"
    name = next(each for each in names if each.endswith(tool))
    numbers = range(results, results + 1 if kind == "turns" else int(count))
    calls = [
        {"id": f"call_{n}", "type": "function", "function": {"name": name, "arguments": json.dumps({"n": n})}}
        for n in numbers
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def completion(body: dict[str, Any]) -> bytes:
    message = reply(body)
    finish = "tool_calls" if message.get("tool_calls") else "stop"
    whole = {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }
    return json.dumps(whole).encode()


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0] or 0)
            data = completion(json.loads(await reader.readexactly(length)))
            start = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(
                data
            )
            writer.write(start + data)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionResetError):
        writer.close()


async def main() -> None:
    server = await asyncio.start_server(serve, "127.0.0.1", 0, limit=2**24)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
