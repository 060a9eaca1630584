"""``python -m benchmarks.trials.model MS``: a model on loopback that streams each answer after a while.

Prints its port. It reads no more of a request than its length, so that it takes little of the processor; at
SIGTERM it prints its processor time in seconds, and how many requests it answered.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys
import time
from typing import Any

from typing_extensions import override

TEXT = "It is sunny in Paris, 21 degrees."


def answer(prompt: int) -> bytes:
    """The answer to a prompt of so many tokens, in the chunks of a server that makes it while it goes."""
    begin: dict[str, Any] = {
        "id": "c1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "gpt-4o-2024-08-06",
    }
    choices: list[Any] = [{"delta": {"role": "assistant", "content": word + " "}} for word in TEXT.split()]
    choices.append({"delta": {}, "finish_reason": "stop"})
    events: list[Any] = [{**begin, "choices": [{"index": 0, **choice}]} for choice in choices]
    usage = {"prompt_tokens": prompt, "completion_tokens": 9, "total_tokens": prompt + 9}
    events.append({**begin, "choices": [], "usage": usage})
    lines = [f"data: {json.dumps(event)}\n\n".encode() for event in events] + [b"data: [DONE]\n\n"]
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(line), line) for line in lines)
    return head + chunks + b"0\r\n\r\n"


ANSWERS = [answer(prompt) for prompt in range(120, 420)]


class Model(asyncio.Protocol):
    """A connection: each request is answered ``seconds`` after its last byte came."""

    answered = 0

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._received = b""
        self._transport: Any = None

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    @override
    def data_received(self, data: bytes) -> None:
        self._received += data
        head, found, body = self._received.partition(b"\r\n\r\n")
        length = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
        if found and len(body) >= int(length):
            self._received = b""
            sent = ANSWERS[Model.answered % len(ANSWERS)]
            Model.answered += 1
            asyncio.get_running_loop().call_later(self._seconds, self._transport.write, sent)


async def main() -> None:
    """Answer until SIGTERM."""
    loop, done = asyncio.get_running_loop(), asyncio.Event()
    seconds = float(sys.argv[1]) / 1000
    server = await loop.create_server(lambda: Model(seconds), "127.0.0.1", 0, backlog=1_024)
    loop.add_signal_handler(signal.SIGTERM, done.set)
    print(server.sockets[0].getsockname()[1], flush=True)
    await done.wait()
    print(json.dumps({"processor": time.process_time(), "answered": Model.answered}), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
