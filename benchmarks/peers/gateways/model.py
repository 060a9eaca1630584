"""A provider behind the Chat Completions API, for every gateway alike: ``python model.py``.

Prints its port. A conversation whose last message is ``say TEXT`` is answered with TEXT; one whose last
message is ``stream N TAG`` with N deltas ``TAG-0 TAG-1 …``, 20 ms apart. ``together M N TAG`` is the same,
but none of M such streams goes on after its first delta before all M have begun.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

_PAUSE_S = 0.02
_USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


begun: list[asyncio.Event] = []
"""The streams that wait for others."""


def asked(body: dict[str, Any]) -> list[str]:
    said = body["messages"][-1]["content"]
    if not isinstance(said, str):
        said = said[0]["text"]
    return list(said.split())


def words(body: dict[str, Any]) -> list[str]:
    kind, *rest = asked(body)
    *_, count, tag = ("", "0", *rest)
    return [" ".join(rest)] if kind == "say" else [f"{tag}-{n} " for n in range(int(count))]


async def others(body: dict[str, Any]) -> None:
    """Wait until as many streams have begun as this one is to be together with."""
    kind, most, *_ = asked(body)
    if kind != "together":
        return
    begun.append(all_here := asyncio.Event())
    if len(begun) >= int(most):
        for waiting in begun:
            waiting.set()
        begun.clear()
    await all_here.wait()


def completion(body: dict[str, Any]) -> bytes:
    message = {"role": "assistant", "content": "".join(words(body))}
    whole = {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": _USAGE,
    }
    return json.dumps(whole).encode()


def chunk(body: dict[str, Any], delta: dict[str, str], finish: str | None = None) -> bytes:
    whole: dict[str, Any] = {
        "id": "c1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": body["model"],
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }
    if finish:
        whole["usage"] = _USAGE
    data = b"data: " + json.dumps(whole).encode() + b"\n\n"
    return b"%x\r\n%s\r\n" % (len(data), data)


async def stream(body: dict[str, Any], writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
    for number, word in enumerate(words(body)):
        writer.write(chunk(body, {"role": "assistant", "content": word}))
        await writer.drain()
        await (asyncio.sleep(_PAUSE_S) if number else others(body))
    writer.write(chunk(body, {}, "stop") + b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n")
    await writer.drain()


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0] or 0)
            if not length:  # a gateway that looks which models there are
                writer.write(b'HTTP/1.1 200 OK\r\ncontent-length: 28\r\n\r\n{"object":"list","data":[]}\n')
                continue
            body = json.loads(await reader.readexactly(length))
            if body.get("stream"):
                await stream(body, writer)
                continue
            data = completion(body)
            kind = b"content-type: application/json\r\ncontent-length: %d" % len(data)
            writer.write(b"HTTP/1.1 200 OK\r\n" + kind + b"\r\n\r\n" + data)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionResetError):
        writer.close()


async def main() -> None:
    server = await asyncio.start_server(serve, "127.0.0.1", 0, limit=2**24, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
